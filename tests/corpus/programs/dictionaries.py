# Dictionaries: merging, views, defaults, grouping.
stock = {"apple": 3, "pear": 7}
stock |= {"fig": 1}
stock.setdefault("plum", 0)
stock.update(apple=5)
print(stock, list(stock.items()), stock.get("kiwi", -1), "pear" in stock)
print({k: v for k, v in sorted(stock.items(), key=lambda item: (-item[1], item[0]))})
print(stock.keys() & {"apple", "x"}, stock.pop("fig"), stock.popitem(), dict(zip("abc", range(3))), dict.fromkeys("ab", 0))
groups = {}
for word in "one two three four five six".split():
    groups.setdefault(len(word), []).append(word)
print(groups, {**stock, "new": 1}, {v: k for k, v in stock.items()})
nested = {"a": {"b": [1, {"c": 2}]}}
print(nested["a"]["b"][1]["c"], max(stock, key=stock.get))
try:
    stock["missing"]
except KeyError as error:
    print("missing:", error)
