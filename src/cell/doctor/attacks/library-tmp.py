# Loads a library that it copied to /tmp.
# group: files
# held: mount_flags
import shutil
import sysconfig
import tempfile
def attack(lure):
    place = sysconfig.get_path("platstdlib") + "/lib-dynload"
    library = next(name for name in sorted(os.listdir(place)) if name.endswith(".so"))
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        ctypes.CDLL(shutil.copy(f"{place}/{library}", f"{folder}/copy.so"))
        return "loaded a library from /tmp"
