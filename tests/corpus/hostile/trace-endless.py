# Has every line of whoever reports call a function that never ends.
# group: ending
# held: launcher
# status: timeout ok
# options: --timeout=0.5 --grace=0
import sys


def trace(*_):
    while True:
        pass


sys.settrace(trace)
sys.setprofile(trace)
