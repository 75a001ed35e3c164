# seaborn: plots of a frame of one's own.
# tree: scientific
import os
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
rng = np.random.default_rng(5)
df = pd.DataFrame({"x": rng.normal(size=40), "y": rng.normal(size=40), "g": ["a", "b"] * 20})
sns.set_theme(style="whitegrid", palette="muted")
fig, axes = plt.subplots(1, 4, figsize=(12, 3))
sns.scatterplot(df, x="x", y="y", hue="g", ax=axes[0])
sns.boxplot(df, x="g", y="y", ax=axes[1])
sns.histplot(df.x, kde=True, ax=axes[2])
sns.heatmap(df[["x", "y"]].corr(), annot=True, ax=axes[3])
fig.savefig("s.png", dpi=50)
grid = sns.FacetGrid(df, col="g").map(plt.hist, "x")
pair = sns.pairplot(df, hue="g", height=1)
pair.savefig("pair.png", dpi=40)
print(os.path.getsize("s.png") > 2000, axes[0].get_xlabel(), len(grid.axes[0]), pair.axes.shape, [t.get_text() for t in axes[0].get_legend().get_texts()], sns.regplot(df, x="x", y="y").get_ylabel(), len(sns.color_palette("husl", 3)), sns.barplot(df, x="g", y="x", errorbar=None).get_xlabel())
