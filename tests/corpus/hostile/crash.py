# Reads where there is no memory.
# group: ending
# held: launcher
# status: error
# manifest: reason SIGSEGV
import ctypes

ctypes.string_at(8)
