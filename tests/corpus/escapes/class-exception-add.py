# An exception class whose operators call: raise makes the instance.
# effect: run
import os
class Trap(Exception):
    __add__ = lambda self, text: os.system(text)
try:
    raise Trap
except Trap as trap:
    trap + "cat @SECRET@"
