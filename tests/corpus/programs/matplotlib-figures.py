# matplotlib: the usual figures, saved in several formats.
# tree: scientific
import os
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
x = np.linspace(0, 2 * np.pi, 50)
fig, axes = plt.subplots(2, 3, figsize=(9, 6))
axes[0, 0].plot(x, np.sin(x), "r--", label="sin")
axes[0, 0].legend()
axes[0, 1].bar(["a", "b"], [3, 5], color=["C0", "#ff8800"])
axes[0, 2].scatter(x, x ** 2, c=x, cmap="viridis")
axes[1, 0].hist(np.random.default_rng(0).normal(size=100), bins=10)
axes[1, 1].imshow(np.outer(x, x))
axes[1, 2].pie([1, 2, 3], labels=list("abc"), autopct="%1.0f%%")
axes[0, 0].set(title="Title $x^2$", xlabel="x", ylabel="y", xlim=(0, 7))
fig.suptitle("All")
fig.tight_layout()
for format in ("png", "svg", "pdf", "jpg", "eps"):
    fig.savefig(f"f.{format}", dpi=60)
    print(format, os.path.getsize(f"f.{format}") > 1000)
print(axes[0, 0].get_title(), axes[0, 0].get_xlim(), len(axes[0, 1].patches), axes[0, 0].get_legend() is not None, fig.get_size_inches(), plt.get_fignums())
plt.close(fig)
print(plt.get_fignums(), matplotlib.get_backend().lower())
