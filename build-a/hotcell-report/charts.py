"""Prepares charts for the templates: lines over time, and bars. They need no script, and are stretched to the page's width."""

import math

from words import count_of, entries, number, time

SAMPLES, BINS = 120, 24
WIDTH, HEIGHT, DRAWN = 1000.0, 200.0, 164.0  # in units of the drawing; the largest value is DRAWN high, and written above it


def part(value, whole):
    return max(0.0, min(1.0, value / whole))


def series(samples, name, rate):
    """The points (seconds, value) of one of the three series; with `rate`, its growth per second. Samples without the value are
    left out."""
    points, last_t, last = [], 0.0, 0.0
    for sample in samples:
        t, y = number(sample, "t"), number(sample, name)
        if last_t < t < math.inf and 0 <= y < math.inf and len(points) < SAMPLES:
            points.append((t, max(y - last, 0.0) / (t - last_t) if rate else y))
            last_t, last = t, y
    return points


def line(title, points, until, ceiling, form):
    """A line chart for the template. `ceiling`, a limit, is marked by a line if it is at most four times the largest value. None:
    there is nothing to draw."""
    most = max((y for _, y in points), default=0)
    if not (0 < most < math.inf and 0 < until < math.inf):
        return None
    marked = 0 < ceiling <= most * 4
    top = max(most, ceiling) if marked else most
    places = [(part(x, until) * WIDTH, HEIGHT - part(y, top) * DRAWN) for x, y in points]
    middles = [0.0, *((one[0] + other[0]) / 2 for one, other in zip(places, places[1:])), WIDTH]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    tips = [(f"{start:.1f}", f"{end - start:.1f}", f"{time(x)}: {form(y)}") for start, end, (x, y) in zip(middles, middles[1:], points)]
    return {"title": title, "top": form(top), "left": "0", "right": time(until), "line": path, "tips": tips,
            "area": f"{path}L{places[-1][0]:.1f} 200L{places[0][0]:.1f} 200Z",
            "ceiling": f"M0 {HEIGHT - part(ceiling, top) * DRAWN:.1f}H1000" if marked else ""}


def of_usage(manifest, name, title, rate, form):
    usage, points = manifest.get("usage"), series(entries(manifest.get("usage"), "samples"), name, rate)
    if len(points) < 3:
        return None
    until = max(points[-1][0], number(usage, "wall") if number(usage, "wall") >= 0 else 0)
    return line(title, points, until, number(manifest.get("limits"), {"cpu": "cpus"}.get(name, name)), form)


def histogram(title, values, form):
    """A bar chart of the numbers of values in bins whose bounds grow by the same factor. Values not above 0 count as the least."""
    if not values:
        return None
    above = [value for value in values if 0 < value < math.inf]
    least, most = (min(above), max(above)) if above else (0.0, 0.0)
    used = BINS if most / 1.01 > least else 1
    low, factor = (math.log(least), (math.log(most) - math.log(least)) / used) if used > 1 else (0.0, 0.0)
    bins = [0] * used
    for value in values:
        bins[min(int((math.log(value) - low) / factor), used - 1) if used > 1 and least < value < math.inf else 0] += 1
    edges, step = [form(least), *(form(math.exp(low + n * factor)) for n in range(1, used)), form(most)], WIDTH / used
    drawn = [(f"{n * step + step * 0.06:.1f}", f"{HEIGHT - high:.1f}", f"{step * 0.88:.1f}", f"{high:.1f}",
              f"{count_of(found, 'job', 'jobs')}, {edges[n]} to {edges[n + 1]}")
             for n, found in enumerate(bins) if found for high in [found / max(bins) * DRAWN]]
    return {"title": title, "top": count_of(max(bins), "job", "jobs"), "left": edges[0], "right": edges[-1], "bins": drawn}
