# A forward reference evaluates its text.
# effect: run
import typing
try:
    typing.ForwardRef("__import__('os').system('cat @SECRET@')")._evaluate({}, {}, recursive_guard=frozenset())
except TypeError:
    pass
