# pandas: groupby, aggregation, pivot tables, transform.
# tree: scientific
import pandas as pd
sales = pd.DataFrame({"region": list("NSNSNE"), "product": ["a", "a", "b", "b", "a", "b"], "units": [10, 5, 8, 3, 7, 2], "price": [1.5, 2.0, 2.5, 2.0, 1.0, 4.0]})
print(sales.groupby("region")["units"].sum(), sales.groupby(["region", "product"]).agg(total=("units", "sum"), mean=("price", "mean")), sales.groupby("product").units.agg(["min", "max", "std"]))
print(sales.pivot_table(values="units", index="region", columns="product", aggfunc="sum", fill_value=0, margins=True), pd.crosstab(sales.region, sales["product"]))
sales["share"] = sales.units / sales.groupby("region").units.transform("sum")
print(sales, sales.groupby("region").apply(lambda g: (g.units * g.price).sum()), sales.groupby("region").filter(lambda g: len(g) > 1), sales.groupby("region").cumcount().tolist(), sales.groupby("product").first(), sales.groupby("region", as_index=False).size())
for name, group in sales.groupby("product"):
    print(name, len(group), group.units.mean())
