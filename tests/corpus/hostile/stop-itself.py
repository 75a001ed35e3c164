# Stops itself, so that nobody can tell it to end.
# group: ending
# held: launcher
# status: timeout
# options: --timeout=0.3 --grace=0
import os
import signal

os.kill(os.getpid(), signal.SIGSTOP)
