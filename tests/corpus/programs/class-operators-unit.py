# Units with operators, comparison, hashing, context, pickling and copying.
import copy
import functools
import pickle
@functools.total_ordering
class Money:
    rates = {"EUR": 1.0, "USD": 1.1}
    def __init__(self, amount, unit="EUR"):
        self.amount, self.unit = amount, unit
    def to(self, unit):
        return Money(self.amount / self.rates[self.unit] * self.rates[unit], unit)
    def __add__(self, other):
        return Money(self.amount + other.to(self.unit).amount, self.unit) if isinstance(other, Money) else NotImplemented
    __radd__ = lambda self, other: self if other == 0 else NotImplemented
    def __eq__(self, other):
        return isinstance(other, Money) and round(self.to("EUR").amount, 9) == round(other.to("EUR").amount, 9)
    def __lt__(self, other):
        return self.to("EUR").amount < other.to("EUR").amount
    def __hash__(self):
        return hash(round(self.to("EUR").amount, 9))
    def __round__(self, n=0):
        return Money(round(self.amount, n), self.unit)
    def __int__(self):
        return int(self.amount)
    def __repr__(self):
        return f"{self.amount:.2f} {self.unit}"
a, b = Money(10), Money(11, "USD")
print(a == b, len({a, b}), sum([a, b]), a < Money(20), round(Money(1.256), 1), int(b), max(a, Money(9)), copy.copy(a) == a, pickle.loads(pickle.dumps(b)))
try:
    a + 5
except TypeError as error:
    print(error)
