# Leaves a process in a session of its own, whose parent is gone.
# group: ending
# held: pid_namespace launcher
# status: ok
# outside: process
python3 -c '
import os, time
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
print(os.getpid(), flush=True)
null = os.open("/dev/null", os.O_RDWR)
for fd in range(3):
    os.dup2(null, fd)
time.sleep(600)
' | head -1
