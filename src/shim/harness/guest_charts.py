"""The data of a chart that matplotlib has drawn: type, title, axes, and the points of each series. Nothing is imported for it, and
nothing is drawn.

The names are those that clients of chart data know: "line", "scatter", "bar", "pie", "box_and_whisker", "unknown", and
"superchart" for a figure with several axes.
"""
import sys

POINTS = 500  # points, bars, wedges and boxes of one figure
SERIES = 50  # most series of one axes
AXES = 16
TICKS = 50  # most ticks of one axis
LETTERS = 200  # most characters of one text
OUTLIERS = 50  # most outliers of one box


def of_figure(figure):
    """The data as JSON values. "truncated" stands in it if something was left out."""
    room = Room()
    every = [axes for axes in figure.get_axes() if axes.get_visible() and not hasattr(axes, "_colorbar")]
    charts = [of_axes(axes, room) for axes in room.first(every, AXES)]
    above = text(getattr(figure, "_suptitle", None) and figure._suptitle.get_text())
    if len(charts) == 1:
        chart = charts[0]
        chart["title"] = chart["title"] or above
    else:
        chart = {"type": "superchart" if charts else "unknown", "title": above, "elements": charts}
    if room.cut:
        chart["truncated"] = True
    return chart


class Room:
    """What the data of one figure may still take."""

    def __init__(self):
        self.points = POINTS
        self.cut = False

    def first(self, items, most):
        self.cut |= len(items) > most
        return items[:most]

    def take(self, count, others=0):
        """The step with which to take `count` points, so that `others` further series have as many."""
        share = max(1, self.points // (others + 1))
        step = max(1, -(-count // share))
        self.cut |= step > 1
        self.points = max(0, self.points - -(-count // step))
        return step


def text(value):
    return str(value)[:LETTERS] if value else None


def label(artist):
    found = str(artist.get_label() or "")
    return "" if found.startswith("_") else found[:LETTERS]


def number(value):
    value = float(value)
    return value if value - value == 0 else None  # JSON knows no infinity, and no NaN


# ---- axes ----

def of_axes(axes, room):
    for kind, elements in (("box_and_whisker", boxes), ("pie", wedges), ("bar", bars), ("scatter", points), ("line", lines)):
        found = elements(axes, room)
        if found:
            break
    else:
        kind, found = "unknown", []
    chart = {"type": kind, "title": text(axes.get_title()), "elements": found}
    if kind == "pie":
        return chart
    for name, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
        called = axis.get_label_text()
        chart[f"{name}_label"], chart[f"{name}_unit"] = text(called), text(unit(called))
        if kind in ("line", "scatter", "unknown"):
            ticks, names = ticks_of(axis, room)
            chart[f"{name}_ticks"] = [shown(axis, tick) for tick in ticks]
            chart[f"{name}_tick_labels"] = names
            chart[f"{name}_scale"] = scale(axis)
    return chart


def unit(called):
    """The unit in a label such as "Time (s)" or "Mass [kg]"."""
    called = called.rstrip()
    for opening, closing in ("()", "[]"):
        before, found, inner = called.rpartition(opening)
        if found and before.strip() and inner.endswith(closing):
            return inner[:-1]
    return None


def ticks_of(axis, room):
    ticks = room.first(list(axis.get_majorticklocs()), TICKS)
    return ticks, [str(name)[:LETTERS] for name in axis.get_major_formatter().format_ticks(ticks)]


def converter(axis):
    return type(axis.converter).__name__


def scale(axis):
    if converter(axis) == "StrCategoryConverter":
        return "categorical"
    return "datetime" if "Date" in converter(axis) or "Period" in converter(axis) else axis.get_scale()


def shown(axis, value):
    """A position on an axis as the program gave it: a number, a date as ISO 8601, or a category."""
    plain = number(value)
    if plain is None:
        return None
    kind = converter(axis)
    if kind == "StrCategoryConverter":
        return next((str(name)[:LETTERS] for name, at in axis.units._mapping.items() if at == plain), plain)
    if "Date" in kind:
        return sys.modules["matplotlib.dates"].num2date(plain).replace(tzinfo=None).isoformat()
    if kind == "PeriodConverter":
        return sys.modules["pandas"].Period(ordinal=int(plain), freq=axis.freq).to_timestamp().isoformat()
    return plain


# ---- series ----

def pairs(axes, xs, ys, room, others):
    step = room.take(len(xs), others)
    return [[shown(axes.xaxis, x), shown(axes.yaxis, y)] for x, y in zip(xs[::step], ys[::step])]


def data_lines(axes, room):
    """Lines in the coordinates of the data, so no axhline() and the like."""
    return room.first([line for line in axes.get_lines() if line.get_transform() is axes.transData and len(line.get_xdata())], SERIES)


def lines(axes, room):
    found = data_lines(axes, room)
    return [{"label": label(line), "points": pairs(axes, *line.get_data(orig=False), room, len(found) - at - 1)}
            for at, line in enumerate(found)]


def points(axes, room):
    """Clouds of points, and the lines between them; lines that have markers alone are such clouds too."""
    clouds = [each for each in axes.collections if type(each).__name__ == "PathCollection" and len(each.get_offsets())]
    if not clouds and not all(line.get_linestyle() in ("None", " ", "") for line in data_lines(axes, room)):
        return []
    clouds = room.first(clouds, SERIES)
    drawn = data_lines(axes, room)
    found = []
    for at, cloud in enumerate(clouds):
        xs, ys = cloud.get_offsets().T
        found.append({"label": label(cloud), "points": pairs(axes, xs, ys, room, len(clouds) + len(drawn) - at - 1)})
    return found + lines(axes, room)


def bars(axes, room):
    found = []
    groups = [group for group in axes.containers if type(group).__name__ == "BarContainer" and len(group)]
    if not groups:
        return found
    upright = getattr(groups[0], "orientation", None) != "horizontal"
    axis = axes.xaxis if upright else axes.yaxis
    names = list(zip(*ticks_of(axis, room)))
    for at, group in enumerate(groups):
        step = room.take(len(group), len(groups) - at - 1)
        for bar in group.patches[::step]:
            middle = bar.get_x() + bar.get_width() / 2 if upright else bar.get_y() + bar.get_height() / 2
            found.append({"label": bar_label(axis, names, middle), "group": label(group),
                          "value": number(bar.get_height() if upright else bar.get_width())})
    return found


def bar_label(axis, names, middle):
    """The category that the bar stands at or, in a group, beside; for numbers the middle of the bar."""
    near = min(names, key=lambda tick: abs(tick[0] - middle), default=None)
    named = type(axis.get_major_formatter()).__name__ in ("StrCategoryFormatter", "FixedFormatter", "FuncFormatter")
    if near and named and near[1] and abs(near[0] - middle) < 0.5:
        return near[1]
    return str(shown(axis, middle)) if scale(axis) == "datetime" else f"{middle:.6g}"


def wedges(axes, room):
    found = room.first([patch for patch in axes.patches if type(patch).__name__ == "Wedge"], min(POINTS, room.points))
    room.take(len(found))
    return [{"label": label(wedge), "angle": number(wedge.theta2 - wedge.theta1), "radius": number(wedge.r)} for wedge in found]


# ---- box plots ----

def boxes(axes, room):
    """Boxes are closed lines or paths, upright or lying; the lines that touch them are their medians and whiskers."""
    found = [box for box in map(box_of, [*axes.patches, *axes.get_lines()]) if box]
    spans = [span_of(line) for line in axes.get_lines()]
    upright = is_upright(found, spans)
    axis = axes.xaxis if upright else axes.yaxis
    rows = [box_row(*(box if upright else box[::-1]), [span if upright else span[::-1] for span in spans if span]) for box in found]
    if not found or not all(rows):
        return []
    names = list(zip(*ticks_of(axis, room)))
    rows = room.first(rows, min(POINTS, room.points))
    room.take(len(rows))
    return [{"label": bar_label(axis, names, row.pop("at")), **row} for row in rows]


def box_of(artist):
    """((left, right), (low, high)) of a box, or None."""
    kind = type(artist).__name__
    if kind == "PathPatch":
        corners = artist.get_path().vertices
    elif kind == "Line2D" and len(artist.get_xdata()) in (5, 12) and artist.get_xdata()[0] == artist.get_xdata()[-1]:
        corners = artist.get_xydata()
    else:
        return None
    xs, ys = [float(x) for x, _ in corners], [float(y) for _, y in corners]
    return ((min(xs), max(xs)), (min(ys), max(ys))) if ys[0] == ys[-1] or kind == "PathPatch" else None


def span_of(line):
    """(xs, ys) of a line of a box plot: two points, or outliers in one line."""
    xs, ys = ([float(each) for each in one] for one in line.get_data(orig=False))
    return (xs, ys) if len(xs) == 2 or line.get_linestyle() in ("None", " ", "") else None


def is_upright(found, spans):
    """Whether a whisker leaves the first box upwards or downwards."""
    if not found:
        return True
    (left, right), ends = found[0]
    return any(span and len(span[0]) == 2 and span[0][0] == span[0][1] == (left + right) / 2
               and (span[1][0] in ends) != (span[1][1] in ends) for span in spans)


def box_row(across, along, spans):
    (left, right), (low, high) = across, along
    at = (left + right) / 2
    close = (right - left) * 1e-6
    medians = [ys[0] for xs, ys in spans if len(xs) == 2 and ys[0] == ys[1] and low <= ys[0] <= high
               and abs(min(xs) - left) <= close and abs(max(xs) - right) <= close]
    ends = [y for xs, ys in spans if len(xs) == 2 and abs(xs[0] - at) <= close and abs(xs[1] - at) <= close for y in ys]
    if not medians:
        return None
    outliers = [y for xs, ys in spans if len(xs) != 2 and xs and all(abs(x - at) <= close for x in xs) for y in ys]
    return {"at": at, "min": number(min([low, *ends])), "first_quartile": number(low), "median": number(medians[0]),
            "third_quartile": number(high), "max": number(max([high, *ends])), "outliers": [number(y) for y in outliers[:OUTLIERS]]}
