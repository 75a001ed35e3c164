# Queues signals for itself until there are no more.
# group: resources
# held: rlimits
# status: ok
import ctypes
import os
import signal

signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN})
count = 0
while count < 50000 and ctypes.CDLL(None).sigqueue(os.getpid(), int(signal.SIGRTMIN), None) == 0:
    count += 1
assert count < 2000, count
