# pandas: returns, drawdown, rolling correlation of simulated prices.
# tree: scientific
import numpy as np
import pandas as pd
rng = np.random.default_rng(9)
days = pd.bdate_range("2023-01-02", periods=120)
prices = pd.DataFrame(100 * np.exp(rng.normal(0, 0.01, (120, 2)).cumsum(axis=0)), index=days, columns=["A", "B"])
returns = prices.pct_change().dropna()
print(returns.describe().round(5), (returns.mean() / returns.std() * np.sqrt(252)).round(4), returns.A.rolling(20).corr(returns.B).iloc[-1].round(5))
print((prices / prices.cummax() - 1).min().round(5), prices.resample("M").last().round(2), prices.A.rolling(5).agg(["mean", "std"]).tail(1).round(4), (prices.A > prices.A.rolling(10).mean()).sum(), prices.idxmax().astype(str).tolist())
