# namedtuple and typing.NamedTuple.
from collections import namedtuple
from typing import NamedTuple
Point = namedtuple("Point", ["x", "y"], defaults=[0])
class Employee(NamedTuple):
    name: str
    salary: float = 1000.0
    def raised(self, percent):
        return self._replace(salary=self.salary * (1 + percent / 100))
p = Point(1)
print(p, p._asdict(), p._replace(y=5), Point._fields, Point._make([3, 4]), p.x + p.y)
print(Employee("Ada").raised(10), Employee.__annotations__["name"].__name__, sorted([Point(2, 1), Point(1, 2)]))
