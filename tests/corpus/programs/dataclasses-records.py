# Dataclasses: defaults, ordering, frozen, post-init, replace, asdict.
from dataclasses import asdict, astuple, dataclass, field, fields, replace
@dataclass(order=True)
class Item:
    price: float
    name: str = field(compare=False)
    tags: list = field(default_factory=list, compare=False, repr=False)
    total: float = field(init=False)
    def __post_init__(self):
        self.total = round(self.price * 1.2, 2)
@dataclass(frozen=True)
class Point:
    x: int = 0
    y: int = 0
    def moved(self, dx):
        return replace(self, x=self.x + dx)
items = [Item(3.5, "tea"), Item(1.25, "milk", ["cold"])]
print(sorted(items), asdict(items[1]), astuple(items[0]), [f.name for f in fields(Item)])
print(Point(1).moved(4), {Point(1, 2): "a"}[Point(1, 2)], Point() == Point(0, 0))
try:
    Point().x = 1
except Exception as error:
    print(type(error).__name__)
@dataclass(slots=True, kw_only=True)
class Config:
    host: str = "h"
    port: int = 80
print(Config(port=8080))
