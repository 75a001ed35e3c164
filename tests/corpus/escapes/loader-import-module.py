# importlib.import_module with a built name.
# effect: run
import importlib
importlib.import_module("sub" + "process").run(["cat", "@SECRET@"])
