# operator: getters and in-place functions.
import operator as op
rows = [{"n": "b", "v": 2}, {"n": "a", "v": 3}]
print(sorted(rows, key=op.itemgetter("n")), op.itemgetter(0, 2)("abc"), op.attrgetter("real", "imag")(3 + 4j))
print(op.methodcaller("upper")("abc"), op.add(1, 2), op.contains([1], 1), op.truth([]), op.index(5), op.concat([1], [2]))
items = [1]
print(op.iadd(items, [2]), op.matmul.__name__, op.floordiv(7, 2), op.countOf("banana", "a"), op.length_hint([1, 2]))
class Line:
    def __init__(self, a, b):
        self.a, self.b = a, b
print(op.attrgetter("a.real")(Line(3, 4)), max([Line(1, 2), Line(5, 0)], key=op.attrgetter("a")).b)
