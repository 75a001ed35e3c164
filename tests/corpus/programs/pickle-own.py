# pickle of one's own data, classes and references.
import copyreg
import pickle
from dataclasses import dataclass, field
@dataclass
class Node:
    name: str
    children: list = field(default_factory=list)
class Counter:
    def __init__(self):
        self.n = 1
        self.cache = object()
    def __getstate__(self):
        return {"n": self.n}
    def __setstate__(self, state):
        self.n = state["n"] + 1
        self.cache = None
tree = Node("root", [Node("leaf")])
tree.children.append(tree)
for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
    again = pickle.loads(pickle.dumps(tree, protocol))
    assert again.children[1] is again
print(again.name, again.children[0], pickle.loads(pickle.dumps(Counter())).n)
with open("data.pickle", "wb") as file:
    pickle.dump({"a": [1, 2.5, {"x"}, (None, True)], "f": len, "c": Node}, file)
with open("data.pickle", "rb") as file:
    print(sorted(pickle.load(file).items(), key=lambda item: item[0])[0])
try:
    pickle.dumps(lambda: 0)
except (pickle.PicklingError, AttributeError) as error:
    print(type(error).__name__)
import datetime, decimal, collections, fractions, enum
class Color(enum.Enum):
    RED = 1
print(pickle.loads(pickle.dumps([datetime.date(2024, 1, 1), decimal.Decimal("1.5"), collections.Counter("aab"), fractions.Fraction(1, 3), Color.RED, 1j, range(3), bytearray(b"x"), collections.OrderedDict(a=1)])))
class Two:
    def __reduce__(self):
        return Node, ("made",)
print(pickle.loads(pickle.dumps(Two())))
