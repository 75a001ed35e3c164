# pandas: merge, join, concat, melt, pivot, stack.
# tree: scientific
import pandas as pd
left = pd.DataFrame({"id": [1, 2, 3], "x": ["a", "b", "c"]})
right = pd.DataFrame({"id": [2, 3, 4], "y": [20, 30, 40]})
for how in ("inner", "left", "right", "outer"):
    print(how, left.merge(right, on="id", how=how, indicator=how == "outer"))
print(pd.concat([left, left], ignore_index=True), pd.concat({"l": left, "r": right}, axis=1), left.set_index("id").join(right.set_index("id")))
wide = pd.DataFrame({"k": ["p", "q"], "m1": [1, 2], "m2": [3, 4]})
long = wide.melt("k", var_name="month", value_name="v")
print(long, long.pivot(index="k", columns="month", values="v"), wide.set_index("k").stack(), long.set_index(["k", "month"]).unstack(), pd.merge_asof(pd.DataFrame({"t": [1, 5]}), pd.DataFrame({"t": [0, 4], "v": [7, 8]}), on="t"))
print(wide.explode("m1"), pd.get_dummies(long.month), left.merge(right, left_on="id", right_on="id", suffixes=("_l", "_r"), validate="1:1").shape)
