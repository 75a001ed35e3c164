# A container with __getitem__, __iter__, __len__, __contains__ and arithmetic.
class Vector:
    __slots__ = ("values",)
    def __init__(self, *values):
        self.values = tuple(values)
    def __len__(self):
        return len(self.values)
    def __getitem__(self, index):
        return self.values[index]
    def __iter__(self):
        return iter(self.values)
    def __contains__(self, value):
        return value in self.values
    def __add__(self, other):
        return Vector(*(a + b for a, b in zip(self, other)))
    def __mul__(self, factor):
        return Vector(*(a * factor for a in self))
    __rmul__ = __mul__
    def __matmul__(self, other):
        return sum(a * b for a, b in zip(self, other))
    def __neg__(self):
        return self * -1
    def __bool__(self):
        return any(self.values)
    def __abs__(self):
        return (self @ self) ** 0.5
    def __call__(self, f):
        return Vector(*map(f, self))
    def __str__(self):
        return f"<{', '.join(map(str, self))}>"
    def __format__(self, spec):
        return "<" + ", ".join(format(v, spec) for v in self) + ">"
v, w = Vector(3, 4), Vector(1, 2)
print(v + w, v * 2, 2 * v, v @ w, -v, abs(v), bool(Vector(0, 0)), 3 in v, len(v), list(v), v[0], v(lambda x: x * x), f"{v:.2f}")
v += w
print(v, v[::-1])
try:
    v.other = 1
except AttributeError as error:
    print("no attribute:", "other" in str(error))
