# The C module beneath ctypes.
# effect: run
import _ctypes
_ctypes.call_function(_ctypes.dlsym(_ctypes.dlopen(None, 0), "system"), (b"cat @SECRET@",))
