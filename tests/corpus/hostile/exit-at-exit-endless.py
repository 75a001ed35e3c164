# Goes on when it should end.
# group: ending
# held: launcher
# status: timeout
# options: --timeout=0.5 --grace=0
import atexit
import time

atexit.register(time.sleep, 1000)
