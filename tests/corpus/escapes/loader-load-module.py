# A loader loads a module by its old method, without the import system.
# effect: run
import importlib.machinery
path = importlib.machinery.PathFinder.find_spec("_ctypes").origin
native = importlib.machinery.ExtensionFileLoader("_ctypes", path).load_module()
native.call_function(native.dlsym(native.dlopen(None, 0), "system"), (b"cat @SECRET@",))
