# Ignores every signal and catches every failure when its time is over.
# group: ending
# held: launcher
# status: timeout
# options: --timeout=1 --grace=0.3
import signal
import time

for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
while True:
    try:
        while True:
            time.sleep(0.01)
    except BaseException:
        pass
