# Sends every signal to itself, with nobody to handle them.
# group: ending
# held: launcher
# status: error killed
import os
import signal

for number in sorted(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}):
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
