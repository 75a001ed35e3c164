# Ends its process with status 0 by the system call itself.
# group: ending
# held: launcher
# status: error
import ctypes

ctypes.CDLL(None)._exit(0)
