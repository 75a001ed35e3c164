# matplotlib: annotations, twin axes, styles, dates, 3D, colour maps, image bytes.
# tree: scientific
import base64
import datetime
import io
import matplotlib.dates as mdates
import matplotlib.pyplot as plt
import numpy as np
from matplotlib import cm, colors, gridspec, patches, ticker
plt.style.use("ggplot")
plt.rcParams.update({"font.size": 9, "figure.dpi": 50})
fig = plt.figure(constrained_layout=True)
grid = gridspec.GridSpec(2, 2, figure=fig)
ax = fig.add_subplot(grid[0, :])
days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=n) for n in range(10)]
ax.plot(days, range(10), marker="o")
ax.xaxis.set_major_formatter(mdates.DateFormatter("%d %b"))
ax.annotate("peak", (days[-1], 9), xytext=(10, 10), textcoords="offset points", arrowprops={"arrowstyle": "->"})
ax.twinx().plot(days, np.arange(10) ** 2)
ax3 = fig.add_subplot(grid[1, 0], projection="3d")
ax3.plot_surface(*np.meshgrid(range(3), range(3)), np.ones((3, 3)), cmap=cm.coolwarm)
polar = fig.add_subplot(grid[1, 1], projection="polar")
polar.fill_between(np.linspace(0, 6, 20), 1, alpha=0.3)
ax.add_patch(patches.Rectangle((0, 0), 1, 1))
ax.yaxis.set_major_locator(ticker.MultipleLocator(3))
buffer = io.BytesIO()
plt.savefig(buffer, format="png", bbox_inches="tight")
print(buffer.getvalue()[:8], len(base64.b64encode(buffer.getvalue())) > 1000, colors.to_hex("red"), [round(c, 3) for c in cm.viridis(0.5)], len(fig.axes), ax.get_yticks()[:2], sorted(plt.style.available)[:2], plt.gcf() is fig, polar.name)
plt.show()
plt.close("all")
fig, ax = plt.subplots()
print(len(ax.boxplot([[1, 2, 3], [2, 3, 9]])["medians"]), len(ax.violinplot([[1, 2, 3]])["bodies"]), ax.contour(np.outer(range(4), range(4))).levels[:2], len(ax.stackplot([1, 2], [1, 2], [2, 1])), type(ax.errorbar([1], [1], [0.1])).__name__, len(ax.table([["a"]]).get_celld()))
fig.canvas.draw()
print(np.asarray(fig.canvas.buffer_rgba()).shape[2])
