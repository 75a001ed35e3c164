# Sets, frozen sets and tuples.
a, b = {1, 2, 3, 4}, {3, 4, 5}
print(a & b, a | b, a - b, a ^ b, a.issubset({1, 2, 3, 4, 5}), a.isdisjoint({9}))
a.discard(99)
a.add(10)
print(sorted(a), frozenset("hello") == frozenset("olleh"), len({(1, 2), (1, 2)}))
point = (1, 2, 3)
x, y, z = point
print(point + (4,), point[::-1], point.count(1), point.index(3), hash(point) == hash((1, 2, 3)), (1,) * 3, x + y + z)
print(sorted({"b": 1, "a": 2}), tuple(sorted("hello")), {n % 3 for n in range(10)})
