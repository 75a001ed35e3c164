# ExtensionFileLoader maps a shared library and runs its code.
# effect: run
import importlib.machinery
import importlib.util
import sysconfig
import glob
path = glob.glob(sysconfig.get_path("platstdlib") + "/lib-dynload/_ctypes.*")[0]
loader = importlib.machinery.ExtensionFileLoader("_ctypes", path)
native = importlib.util.module_from_spec(importlib.machinery.ModuleSpec("_ctypes", loader, origin=path))
loader.exec_module(native)
native.call_function(native.dlsym(native.dlopen(None, 0), "system"), (b"cat @SECRET@",))
