# Makes timers until there are no more.
# group: resources
# held: rlimits
# status: ok
import ctypes

libc = ctypes.CDLL(None)
count, timer = 0, ctypes.c_void_p()
while count < 50000 and libc.timer_create(1, None, ctypes.byref(timer)) == 0:
    count += 1
assert count < 2000, count
