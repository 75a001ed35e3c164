"""What was found, as report.json and report.md."""

import datetime
import json

VERSION = 1


class Report:
    def __init__(self, bench, machine, others):
        self.bench = bench
        self.begun = others
        self.told = {"version": VERSION, "started": now(), "finished": now(), "quick": bench.quick, "scale": bench.asked.scale,
                     "machine": machine, "load": {"before": others["load"], "after": others["load"], "stolen_seconds": 0.0},
                     "goals": [], "measurements": []}

    def add(self, measured, others):
        self.told["measurements"].append(measured)
        self.told["finished"] = now()
        self.told["load"].update(after=others["load"], stolen_seconds=others["stolen_seconds"] - self.begun["stolen_seconds"])
        self.told["goals"] += [{"measurement": measured["name"], **goal} for section in measured["sections"] for goal in section["goals"]]

    @property
    def failed(self):
        return any(measured["failed"] for measured in self.told["measurements"])

    @property
    def missed(self):
        return any(goal["met"] is False for goal in self.told["goals"])

    def write(self, where):
        (where / "report.json").write_text(json.dumps(self.told, indent=1) + "\n", encoding="utf-8")
        (where / "report.md").write_text(markdown(self.told), encoding="utf-8")


def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


# ---- Markdown ----

def number(value):
    if value is None:
        return ""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.2f}" if abs(value) >= 1 else f"{value:.3f}"


def place(x):
    return f"{x:,}" if isinstance(x, int) else f"{x:.4g}"


def times(value):
    return "" if value is None else f"{value:.2f}x" if value >= 0.1 else f"1/{1 / value:.0f}"


def table(head, rows):
    cut = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in (head, cut, *rows))


def goals(rows):
    if not rows:
        return ""
    told = [[f"{row['measurement']}: {row['title']}", row["name"], row["of"], f"{row['at_most']:.2f}x",
             f"{row['ratio']:.3f}x" if row["ratio"] is not None else "", {True: "yes", False: "no", None: "not measured"}[row["met"]]]
            for row in rows]
    return "## Goals\n\n" + table(["of", "median of", "against", "at most", "found", "met"], told)


def comparison(section):
    more = section.get("columns", [])
    rows = [[row["name"], number(row["median"]), f"{number(row['q1'])} to {number(row['q3'])}", number(row["min"]), row["n"],
             times(row["ratio"]), f"{times(row['ratio_q1'])} to {times(row['ratio_q3'])}", *(number(row[name]) for name in more)]
            for row in section["rows"]]
    return table(["", f"median, {section['unit']}", "quartiles", "least", "rounds", f"to {section['base']}", "quartiles", *more], rows)


def lines_beside_each_other(section):
    """Single values: a row for each x, a column for each line."""
    found = {line["name"]: {point["x"]: point["median"] for point in line["points"]} for line in section["lines"]}
    places = sorted({x for points in found.values() for x in points})
    rows = [[place(x), *(number(points.get(x)) for points in found.values())] for x in places]
    return table([section["x"], *(f"{name}, {section['y']}" if len(found) == 1 else name for name in found)], rows)


def curve(section):
    if not section["columns"] and all(point["n"] == 1 for line in section["lines"] for point in line["points"]):
        return lines_beside_each_other(section)
    rows = [[f"{line['name']}, {place(point['x'])}", number(point["median"]), f"{number(point['q1'])} to {number(point['q3'])}",
             *(number(point.get(name)) for name in section["columns"])] for line in section["lines"] for point in line["points"]]
    return table([section["x"], section["y"], "quartiles", *section["columns"]], rows)


def plain(section):
    rows = section["rows"]
    return table(list(rows[0]), [[row[name] for name in rows[0]] for row in rows]) if rows else "Nothing."


def part(section):
    lines = [f"### {section['title']}"]
    if section["about"]:
        code = "\n" in section["about"].strip()
        lines.append(f"```python\n{section['about'].strip()}\n```" if code and "import" in section["about"] else section["about"])
    lines.append({"comparison": comparison, "curve": curve, "table": plain}[section["kind"]](section))
    if section.get("plot"):
        lines.append(f"![{section['title']}]({section['plot']})")
    lines += [f"Not measured: {row['name']}: {row['reason']}" for row in section["skipped"]]
    return "\n\n".join(lines)


def machine(told):
    found, processor = told["machine"], told["machine"]["processor"]
    source = found["source"]
    rows = [["processor", f"{processor['model']}, {processor['usable']} of {processor['count']}"
             f"{', of a virtual machine' if processor['virtual'] else ''}"],
            ["frequency", f"{processor['mhz']} MHz; governor {processor['governor'] or 'not told'}; SMT {processor['smt'] or 'not told'}; "
             f"clock {processor['clock']}"],
            ["memory", f"{found['memory']['total_mib']} MiB, {found['memory']['available_mib']} MiB available; huge pages {found['memory']['huge_pages']}"],
            ["kernel", f"{found['kernel']}, {found['architecture']}, {found['distribution']}; cgroups {found['cgroups']}"],
            ["mitigations", "; ".join(f"{name}: {text}" for name, text in found["mitigations"].items()) or "none needed"],
            ["programs", "; ".join(f"{name}: {text}" for name, text in found["programs"].items() if text)],
            ["sources", f"{source['commit'][:12]}{', changed' if source['changed'] else ''}" if source else "not a checkout"],
            ["who", "root" if found["root"] else "an ordinary user"],
            ["load", f"{told['load']['before']:.2f} before, {told['load']['after']:.2f} after; {told['load']['stolen_seconds']:.1f} s stolen"],
            ["when", f"{told['started']} to {told['finished']}"]]
    return "## Machine\n\n" + table(["", ""], rows)


def markdown(told):
    lines = ["# Benchmarks of hotcell"]
    if told["quick"]:
        lines.append("**A quick run, to see that everything works: its numbers mean nothing.**")
    lines.append("Medians with quartiles. Contenders ran in turn, in rounds; a ratio is one of medians, and the quartiles beside it are of "
                 "the rounds' own ratios. Times are by the clock; of processors only where it says so, which others disturb less.")
    lines += [text for text in (goals(told["goals"]), machine(told)) if text]
    for measured in told["measurements"]:
        lines += [f"## {measured['title']}", f"{' '.join(measured['about'].split())} It took {measured['seconds']:.0f} s."]
        if measured["failed"] or measured["left_out"]:
            lines.append(f"Not measured: {measured['failed'] or measured['left_out']}")
        lines += [part(section) for section in measured["sections"]]
    return "\n\n".join(lines) + "\n"
