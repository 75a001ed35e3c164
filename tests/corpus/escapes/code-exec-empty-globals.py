# exec with an empty dict gets the interpreter's own builtins.
# effect: run
exec("import os; os.system('cat @SECRET@')", {})
