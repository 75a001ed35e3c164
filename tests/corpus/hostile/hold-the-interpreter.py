# Waits in C without letting any other thread run.
# group: resources
# held: launcher
# status: timeout
# options: --timeout=0.3
import ctypes

ctypes.PyDLL(None).pause()
