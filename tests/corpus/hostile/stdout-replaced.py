# Puts something else in the place of its streams.
# group: stdout
# held: launcher
# status: ok error
import sys


class Odd:
    def __getattr__(self, name):
        raise KeyError(name)


sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = Odd()
