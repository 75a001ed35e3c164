# The name passed around: map calls it.
# effect: run
list(map(exec, ["import os; os.system('cat @SECRET@')"]))
