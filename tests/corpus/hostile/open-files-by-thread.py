# Gives each thread a table of open files of its own, to have more of them.
# group: resources
# held: seccomp
# status: ok
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
assert libc.unshare(0x400) == -1
