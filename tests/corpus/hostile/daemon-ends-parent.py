# Goes on as its own child after it has ended well.
# group: ending
# held: launcher pid_namespace
# status: error
# options: --processes=fork
import os

if os.fork():
    os._exit(0)
os.setsid()
while True:
    os.write(1, b"still here\n")
