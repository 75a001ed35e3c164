# A signal handler and a timer.
import signal
class TooLong(Exception): pass
def handler(number, frame):
    raise TooLong(signal.Signals(number).name)
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.05)
try:
    while True:
        pass
except TooLong as error:
    print("stopped by", error)
finally:
    signal.alarm(0)
print(signal.getsignal(signal.SIGALRM) is handler, signal.strsignal(15))
