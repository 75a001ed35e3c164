# Loads a library that it copied to /tmp.
# group: files
# held: mount_flags
import shutil
import tempfile
def attack(lure):
    with open("/proc/self/maps", encoding="utf-8") as maps:
        library = next(line.split()[-1] for line in maps if ".so" in line.split()[-1])
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        copy = shutil.copy(library, f"{folder}/copy.so")
        ctypes.CDLL(copy)
        return "loaded a library from /tmp"
