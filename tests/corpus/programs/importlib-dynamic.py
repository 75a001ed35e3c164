# importlib: importing by name, optional modules, resources, metadata.
import importlib
import importlib.util
module = importlib.import_module("json")
print(module.dumps([1]), importlib.util.find_spec("math") is not None, importlib.util.find_spec("surely_no_such_module"))
try:
    import surely_no_such_module
except ImportError as error:
    print(type(error).__name__, error.name)
try:
    import numpy_is_optional as np
except ImportError:
    np = None
print(np, __import__("math").sqrt(16), importlib.reload(module).loads("1"), getattr(importlib.import_module("collections.abc"), "Mapping").__name__)
