# itertools, all of it.
import itertools as it
import operator
print(list(it.chain("ab", [1])), list(it.islice(it.count(5, 2), 4)), list(it.accumulate([1, 2, 3, 4])), list(it.accumulate([3, 1, 2], max)))
print(list(it.permutations("abc", 2))[:3], list(it.combinations(range(4), 2)), list(it.product("ab", repeat=2)), list(it.combinations_with_replacement("ab", 2)))
print([(k, list(g)) for k, g in it.groupby(sorted("mississippi"))], list(it.zip_longest("ab", "x", fillvalue="-")))
print(list(it.takewhile(lambda x: x < 3, range(9))), list(it.dropwhile(lambda x: x < 3, range(5))), list(it.filterfalse(lambda x: x % 2, range(5))))
print(list(it.starmap(operator.mul, [(2, 3), (4, 5)])), list(it.compress("abcd", [1, 0, 1, 0])), list(it.pairwise("abcd")), list(it.repeat(7, 2)))
a, b = it.tee(range(3))
print(list(a), list(b), list(it.chain.from_iterable([[1], [2, 3]])), list(it.islice(it.cycle("xy"), 5)))
