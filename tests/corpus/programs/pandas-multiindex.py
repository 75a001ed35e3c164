# pandas: MultiIndex, correlation, ranking, windows, styles of printing.
# tree: scientific
import numpy as np
import pandas as pd
index = pd.MultiIndex.from_product([["a", "b"], [1, 2]], names=["k", "n"])
df = pd.DataFrame(np.arange(8).reshape(4, 2), index=index, columns=["x", "y"])
print(df, df.loc["a"], df.xs(2, level="n"), df.groupby(level=0).sum(), df.swaplevel().sort_index(), df.reset_index().columns.tolist(), df.loc[("b", 1), "y"], df.unstack().shape)
print(df.corr(), df.x.rank(), df.cumsum().iloc[-1].tolist(), df.x.quantile([0.1, 0.9]), df.mode().iloc[0, 0], df.skew(), df.idxmax(), df.clip(1, 5).values, df.diff().iloc[1].tolist(), df.abs().sum().sum())
pd.set_option("display.max_rows", 6, "display.width", 60, "display.float_format", "{:.2f}".format)
print(pd.DataFrame({"long": np.linspace(0, 1, 20)}))
pd.reset_option("display.max_rows")
with pd.option_context("display.max_columns", 3):
    print(pd.DataFrame(np.eye(6)))
