# timeit compiles and runs a statement.
# effect: run
import timeit
timeit.timeit("os.system('cat @SECRET@')", "import os", number=1)
