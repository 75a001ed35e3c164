# Sends every signal to the process that started it.
# group: ending
# held: launcher pid_namespace
# status: ok
# manifest: stdout after
import os
import signal

for number in signal.valid_signals():
    try:
        os.kill(os.getppid(), number)
        os.kill(1, number)
    except OSError:
        pass
print("after")
