# A deleted guard falls back to the real thing.
# effect: run
import builtins
def __import__(*_):
    pass
del __import__
builtins.__import__("os").system("cat @SECRET@")
