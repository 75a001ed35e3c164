# A whole analysis: simulated data, statistics, a figure, files.
# tree: scientific
import json
import os
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy import stats
rng = np.random.default_rng(8)
df = pd.DataFrame({"group": np.repeat(["control", "treated"], 30), "before": rng.normal(50, 5, 60)})
df["after"] = df.before + np.where(df.group == "treated", 4, 0) + rng.normal(0, 2, 60)
df["change"] = df.after - df.before
summary = df.groupby("group").change.agg(["mean", "std", "count"]).round(3)
t, p = stats.ttest_ind(*[g.change for _, g in df.groupby("group")])
print(summary, f"t = {t:.3f}, p = {p:.2e}", "significant" if p < 0.05 else "not significant", sep="\n")
fig, ax = plt.subplots()
df.boxplot(column="change", by="group", ax=ax)
fig.savefig("change.png")
os.makedirs("report", exist_ok=True)
summary.to_csv("report/summary.csv")
with open("report/result.json", "w") as file:
    json.dump({"t": round(float(t), 4), "significant": bool(p < 0.05)}, file)
print(sorted(os.listdir("report")), open("report/result.json").read(), os.path.getsize("change.png") > 1000)
