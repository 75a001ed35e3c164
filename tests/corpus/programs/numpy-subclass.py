# numpy: a subclass, ufunc protocol, printing options, errors, testing.
# tree: scientific
import numpy as np
class Length(np.ndarray):
    def __new__(cls, values, unit):
        made = np.asarray(values, dtype=float).view(cls)
        made.unit = unit
        return made
    def __array_finalize__(self, other):
        self.unit = getattr(other, "unit", None)
lengths = Length([1, 2], "m")
print((lengths * 2).unit, type(lengths[:1]).__name__, np.asarray(lengths))
class Wrapped:
    def __array__(self, dtype=None):
        return np.array([7, 8])
print(np.add(Wrapped(), 1))
with np.printoptions(precision=2, suppress=True):
    print(np.array([1.23456, 1e-9]))
np.testing.assert_allclose([1, 2], [1, 2 + 1e-12])
try:
    np.testing.assert_array_equal([1, 2], [1, 3])
except AssertionError as error:
    print("Mismatched elements: 1 / 2" in str(error))
for bad in (lambda: np.ones(2) + np.ones(3), lambda: np.array([1, 2]).reshape(3), lambda: np.ones(2)[5]):
    try:
        bad()
    except (ValueError, IndexError) as error:
        print(type(error).__name__, error)
print(np.array([1, "a", None], dtype=object), np.array([[1], [2]]).tolist(), np.ndindex(2).__class__.__name__, list(np.ndenumerate([5, 6])))
