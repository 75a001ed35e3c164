# Kills the group of processes that it is in.
# group: ending
# held: launcher
# status: error
import os
import signal

os.killpg(0, signal.SIGKILL)
