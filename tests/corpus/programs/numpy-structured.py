# numpy: structured arrays, dates, strings, masks, sorting.
# tree: scientific
import numpy as np
people = np.array([("Ann", 30, 1.7), ("Bob", 25, 1.8)], dtype=[("name", "U10"), ("age", "i4"), ("height", "f8")])
print(people["name"], np.sort(people, order="age"), people[people["age"] > 26]["height"], people.dtype.names)
days = np.arange("2024-02-27", "2024-03-02", dtype="datetime64[D]")
print(days, np.diff(days), np.datetime64("2024-01-01") + np.timedelta64(3, "D"), np.busday_count("2024-01-01", "2024-01-31"), np.is_busday(days))
print(np.char.upper(["ab", "c"]), np.char.add(["a"], ["b"]), np.array(["x", "yy"]).dtype)
masked = np.ma.masked_invalid([1.0, np.nan, 3.0])
print(masked.mean(), masked, np.ma.masked_where([1, 2] > np.array(1), [1, 2]))
print(np.argsort([3, 1, 2]), np.lexsort(([1, 2, 1], [3, 3, 1])), np.searchsorted([1, 3, 5], 4), np.digitize([0.5, 1.5], [0, 1, 2]), np.isin([1, 2], [2]), np.union1d([1], [2]), np.setdiff1d([1, 2], [1]))
