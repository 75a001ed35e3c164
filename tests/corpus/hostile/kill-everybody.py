# Kills everybody that it can reach.
# group: ending
# held: launcher pid_namespace
# status: ok killed error
# options: --processes=fork
import os
import signal

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.pause()
for target in (-1, 1, 2, 0, -2, -os.getpgrp()):
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            if target not in (0, -os.getpgrp()):
                os.kill(target, number)
        except OSError:
            pass
