# runpy.run_module: the module timeit, given a statement as its argument.
# effect: run
import runpy
import sys
sys.argv = ["timeit", "-n", "1", "-r", "1", "import os; os.system('cat @SECRET@')"]
runpy.run_module("timeit", run_name="__main__")
