# pandas: string methods, categories, maps, apply.
# tree: scientific
import numpy as np
import pandas as pd
s = pd.Series(["Alpha one", "beta TWO", None, "gamma-3"])
print(s.str.upper(), s.str.contains("a$|o", regex=True, na=False), s.str.extract(r"(\w+)[ -](\w+)"), s.str.split().str[0], s.str.len(), s.str.replace("-", " ", regex=False), s.str.cat(sep="|"), s.str.get_dummies(" ").shape)
sizes = pd.Series(["M", "S", "L", "M"]).astype(pd.CategoricalDtype(["S", "M", "L"], ordered=True))
print(sizes.sort_values().tolist(), sizes.cat.codes.tolist(), sizes.max(), pd.cut([1, 5, 9], [0, 3, 6, 9], labels=["lo", "mid", "hi"]), pd.qcut(range(4), 2, labels=False))
df = pd.DataFrame({"a": [1, 2], "b": [3.5, 4.5]})
print(df.apply(np.sum), df.apply(lambda row: row.a * row.b, axis=1), df.applymap(str), df.a.map({1: "one"}), df.a.apply(lambda x: x ** 2), df.agg(["sum", "mean"]), df.pipe(lambda d, n: d * n, 2), df.eval("c = a + b"), df.query("a > 1 and b < 5"), df.where(df > 2), df.a.replace({1: 100}).tolist())
