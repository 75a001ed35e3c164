"""A picture for each section of a report."""

import re

try:
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:  # a report without pictures is one
    plt = None

COLOURS = {"ours": "#c8553d", "others": "#8a9ba8"}
WIDTH = 8


def comparison(section, axes):
    """A box for each contender, over its rounds, from the quickest down."""
    rows = sorted(section["rows"], key=lambda row: -row["median"])
    boxes = axes.boxplot([row["values"] for row in rows], vert=False, widths=0.6, patch_artist=True, showfliers=False,
                         medianprops={"color": "black"})
    for row, box in zip(rows, boxes["boxes"]):
        box.set_facecolor(COLOURS["ours" if row["name"].startswith("hotcell") else "others"])
    axes.set_yticks(range(1, len(rows) + 1), [f"{row['name']}  {row['median']:.3g}" for row in rows])
    axes.axvline(next(row["median"] for row in rows if row["name"] == section["base"]), color="grey", linewidth=0.8, linestyle=":")
    axes.set_xlabel(section["unit"])
    most, least = rows[0]["median"], rows[-1]["median"]
    if least > 0 and most / least > 20:
        axes.set_xscale("log")
    else:
        axes.set_xlim(left=0)


def curve(section, axes):
    for line in section["lines"]:
        points = line["points"]
        x, y = [point["x"] for point in points], [point["median"] for point in points]
        drawn = axes.plot(x, y, marker="o", label=line["name"])[0]
        axes.fill_between(x, [point["q1"] for point in points], [point["q3"] for point in points], alpha=0.2, color=drawn.get_color())
    if section["logarithmic"]:
        axes.set_xscale("log", base=10 if section["lines"][0]["points"][-1]["x"] > 1000 else 2)
        axes.xaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.set_xlabel(section["x"])
    axes.set_ylabel(section["y"])
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend()


def draw(measured, where):
    """The name of its picture goes into each section."""
    for section in measured["sections"]:
        section["plot"] = None
        if not plt or section["kind"] == "table":
            continue
        height = 1.2 + 0.32 * len(section["rows"]) if section["kind"] == "comparison" else 4.5
        figure, axes = plt.subplots(figsize=(WIDTH, height), layout="constrained")
        {"comparison": comparison, "curve": curve}[section["kind"]](section, axes)
        axes.set_title(f"{measured['title']}: {section['title']}")
        section["plot"] = re.sub(r"[^a-z0-9]+", "-", f"{measured['name']} {section['title']}".lower()).strip("-") + ".png"
        figure.savefig(where / section["plot"], dpi=110)
        plt.close(figure)
