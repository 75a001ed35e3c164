# A forward reference evaluates its text.
# effect: run
import typing
try:
    typing.ForwardRef("__import__('os').system('cat @SECRET@')")._evaluate({}, {}, frozenset())
except TypeError:
    pass
