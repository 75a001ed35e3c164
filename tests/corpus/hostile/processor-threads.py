# Never ends, in several threads, in C.
# group: resources
# held: launcher rlimits
# status: cpu
# options: --cpu=0.4
import hashlib
import threading

block = bytes(1 << 20)


def work():
    while True:
        hashlib.sha256(block)


for _ in range(4):
    threading.Thread(target=work).start()
