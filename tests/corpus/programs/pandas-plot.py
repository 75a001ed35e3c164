# pandas: plots through matplotlib.
# tree: scientific
import os
import matplotlib
import matplotlib.pyplot as plt
import pandas as pd
df = pd.DataFrame({"x": [1, 2, 3], "y": [4, 1, 6]})
axis = df.plot(x="x", y="y", title="T")
print(axis.get_title(), len(axis.lines))
for kind in ("bar", "hist", "box", "area"):
    print(kind, type(df.plot(kind=kind)).__name__)
print(len(df.hist()[0]), type(pd.plotting.scatter_matrix(df)).__name__, len(df.y.plot.pie().patches))
axis.figure.savefig("p.png")
plt.close("all")
print(os.path.getsize("p.png") > 1000, matplotlib.get_backend().lower())
