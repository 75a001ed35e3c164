# Structural pattern matching.
from dataclasses import dataclass
@dataclass
class Point:
    x: int
    y: int
def describe(thing):
    match thing:
        case 0 | 1:
            return "small number"
        case int(n) if n < 0:
            return f"negative {n}"
        case str() as text:
            return f"text {text}"
        case [first, *rest]:
            return f"list of {first} and {len(rest)}"
        case {"type": "circle", "radius": r, **others}:
            return f"circle {r} {sorted(others)}"
        case Point(x=0, y=y):
            return f"on the axis at {y}"
        case Point(x, y):
            return f"at {x},{y}"
        case None:
            return "nothing"
        case _:
            return "something"
for thing in (1, -5, "hi", [1, 2, 3], {"type": "circle", "radius": 2, "z": 1}, Point(0, 3), Point(1, 2), None, 3.5):
    print(describe(thing))
match "go north".split():
    case ["go", ("north" | "south") as direction]:
        print(direction)
