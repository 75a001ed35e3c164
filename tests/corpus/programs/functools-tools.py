# functools: caches, partial, reduce, dispatch, ordering.
import functools
import operator
@functools.lru_cache(maxsize=None)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(80), fib.cache_info())
print(functools.reduce(operator.mul, range(1, 6)), functools.partial(int, base=2)("1010"), sorted([3, -1, 2], key=functools.cmp_to_key(lambda a, b: b - a)))
@functools.singledispatch
def show(value):
    return f"object {value}"
@show.register
def _(value: int):
    return f"int {value}"
@show.register(list)
def _(value):
    return f"list of {len(value)}"
print(show(1), show([1, 2]), show("x"))
@functools.total_ordering
class Version:
    def __init__(self, n):
        self.n = n
    def __eq__(self, other):
        return self.n == other.n
    def __lt__(self, other):
        return self.n < other.n
    @functools.cached_property
    def text(self):
        print("computed")
        return f"v{self.n}"
v = Version(2)
print(v >= Version(1), v.text, v.text)
class Grid:
    @functools.singledispatchmethod
    def at(self, key):
        return "?"
    @at.register
    def _(self, key: int):
        return "row"
print(Grid().at(1), Grid().at("x"))
