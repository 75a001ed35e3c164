# Prints to both streams without end, from threads.
# group: stdout
# held: launcher
# status: timeout
# options: --timeout=0.5 --grace=0 --stdout-size=64K --stderr-size=64K
# manifest: truncated stdout; truncated stderr
import os
import threading


def flood(fd):
    while True:
        os.write(fd, bytes(range(256)) * 16)


for fd in (1, 2, 1, 2):
    threading.Thread(target=flood, args=(fd,)).start()
