# pandas: a cohort table and top products per customer.
# tree: scientific
import numpy as np
import pandas as pd
rng = np.random.default_rng(4)
orders = pd.DataFrame({"customer": rng.integers(1, 8, 60), "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 120, 60), "D"), "product": rng.choice(list("pqr"), 60), "value": rng.gamma(2, 20, 60).round(2)})
orders["month"] = orders.day.dt.to_period("M")
orders["first"] = orders.groupby("customer").month.transform("min")
orders["age"] = (orders.month - orders["first"]).map(lambda offset: offset.n)
print(orders.pivot_table(index="first", columns="age", values="customer", aggfunc="nunique", fill_value=0))
top = orders.groupby(["customer", "product"]).value.sum().reset_index().sort_values(["customer", "value"], ascending=[True, False]).groupby("customer").head(1)
print(top.to_string(index=False), orders.groupby(pd.Grouper(key="day", freq="M")).value.sum(), orders.value.rank(pct=True).round(3).head(3).tolist())
bins = pd.cut(orders.value, [0, 20, 50, np.inf], labels=["low", "mid", "high"])
print(bins.value_counts(sort=False), orders.groupby(bins).value.mean().round(3), orders.set_index("day").sort_index().loc["2024-02", "value"].sum().round(2))
