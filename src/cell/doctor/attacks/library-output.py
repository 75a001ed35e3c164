# Loads a library that it copied to its output or working directory.
# group: files
# held: mount_flags
import shutil
import sysconfig
def attack(lure):
    folder = sysconfig.get_path("platstdlib") + "/lib-dynload"
    library = next(name for name in sorted(os.listdir(folder)) if name.endswith(".so"))
    copy = shutil.copy(f"{folder}/{library}", "hotcell-drill.so")
    try:
        ctypes.CDLL(os.path.abspath(copy))
        return "loaded a library that it wrote"
    finally:
        os.unlink(copy)
