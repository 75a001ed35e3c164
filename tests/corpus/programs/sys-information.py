# sys: what programs ask about.
import platform
import sys
print(sys.version_info[:2], sys.byteorder, sys.maxsize, sys.platform, sys.getrecursionlimit() >= 1000, sys.float_info.epsilon, sys.implementation.name)
print(sys.getsizeof([]) > 0, sys.intern("x"), isinstance(sys.argv, list), len(sys.argv), "json" in sys.builtin_module_names, sys.stdout.writable(), sys.getdefaultencoding(), sys.getfilesystemencoding())
sys.setrecursionlimit(500)
def deep(n):
    return deep(n + 1)
try:
    deep(0)
except RecursionError as error:
    print("recursion:", str(error)[:31])
sys.setrecursionlimit(1000)
print("math" in sys.modules or True, platform.python_version_tuple()[0], platform.system(), platform.machine() != "", sys.stdin is not None)
sys.stdout.write("written\n")
print(sys.getrefcount(object()) > 0, sys.exc_info(), sys.flags.optimize)
