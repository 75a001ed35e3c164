# Code compiled as "<frozen os>" passes for a part of the interpreter.
# effect: run
exec(compile("import os\nos.system('cat @SECRET@')", "<frozen os>", "exec"), {"__name__": "os"})
