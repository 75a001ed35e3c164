# Lists: slices, sorting, comprehensions, nested structures.
numbers = [5, 3, 8, 1, 9, 2]
print(sorted(numbers), sorted(numbers, reverse=True), numbers[::-1], numbers[1:4], numbers[-2:])
numbers.sort(key=lambda n: (n % 2, n))
numbers.extend([7, 7])
numbers.insert(0, 100)
numbers.remove(8)
print(numbers, numbers.index(7), numbers.count(7), numbers.pop(), max(numbers), sum(numbers))
matrix = [[1, 2, 3], [4, 5, 6]]
print([list(row) for row in zip(*matrix)], [x for row in matrix for x in row], [[x * y for x in range(3)] for y in range(3)])
first, *middle, last = range(6)
print(first, middle, last, [*middle, *"ab"], list(enumerate("ab", 1)), any([]), all([]))
numbers[1:3] = ["x"]
del numbers[0]
print(numbers, [1, 2] < [1, 3], [1] * 3, [[]] * 2)
print(list(filter(None, [0, 1, "", "a"])), list(map(lambda a, b: a + b, [1, 2], [3, 4])), list(reversed([1, 2])))
