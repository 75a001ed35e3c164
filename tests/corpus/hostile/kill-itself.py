# Kills itself.
# group: ending
# held: launcher
# status: error
# manifest: stdout before
import os
import signal

print("before", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
