# Breaks the interpreter so that its end fails.
# group: ending
# held: launcher
# status: error ok
import ctypes

ctypes.memset(id(None), 0x41, 16)
