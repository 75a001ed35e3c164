# cProfile.run executes a statement.
# effect: run
import cProfile
cProfile.run("import os; os.system('cat @SECRET@')")
