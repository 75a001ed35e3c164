# Classes: properties, inheritance, special methods.
class Shape:
    count = 0
    def __init__(self, name):
        self.name = name
        Shape.count += 1
    def area(self):
        raise NotImplementedError
    def __repr__(self):
        return f"{type(self).__name__}({self.name!r}, {self.area():.2f})"
    def __lt__(self, other):
        return self.area() < other.area()
    def __eq__(self, other):
        return isinstance(other, Shape) and self.area() == other.area()
    __hash__ = object.__hash__
class Circle(Shape):
    def __init__(self, radius):
        super().__init__("circle")
        self._radius = radius
    @property
    def radius(self):
        return self._radius
    @radius.setter
    def radius(self, value):
        if value < 0:
            raise ValueError("negative radius")
        self._radius = value
    def area(self):
        return 3.14159 * self._radius ** 2
class Square(Shape):
    def __init__(self, side):
        super().__init__("square")
        self.side = side
    def area(self):
        return self.side ** 2
    @classmethod
    def unit(cls):
        return cls(1)
    @staticmethod
    def corners():
        return 4
shapes = [Circle(2), Square(3), Square.unit()]
print(sorted(shapes), max(shapes), Shape.count, Square.corners(), shapes[0] == shapes[1])
try:
    shapes[0].radius = -1
except ValueError as error:
    print("error:", error)
print(isinstance(shapes[0], Shape), issubclass(Square, Shape), Circle.__name__, hasattr(shapes[1], "side"), getattr(shapes[1], "side"), [c.__name__ for c in Square.__mro__])
