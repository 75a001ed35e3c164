"""Puts a report of the benchmarks (tests/bench) into hotcell-bench(7): a part for each measurement, so that no figure is typed.

measured.py REPORT.json prints the report without the value of each round, as src/man/measured.json is kept;
measured.py REPORT.json OTHER.json TEMPLATE prints the page. Its parts are called @MEASURED_COLD@ and so on, @OTHER_WARM@ of the other report.
"""

import json
import re
import sys
from pathlib import Path

LEFT_OUT = ("values", "plot", "about")  # of a report: a page has medians and quartiles, and says in its own words what was measured


def number(value):
    """Three digits that count; none that say nothing."""
    if value is None:
        return "-"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def times(value):
    return "-" if value is None else f"{value:.2f}" if value >= 0.1 else f"1/{1 / value:.0f}"


def table(head, rows):
    """Columns of text, as wide as their widest cell: the first to the left, the others to the right."""
    shown = [[str(cell) for cell in row] for row in (head, *rows)]
    widths = [max(len(row[at]) for row in shown) for at in range(len(head))]
    lines = ["  ".join(cell.rjust(width) if at else cell.ljust(width) for at, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in shown]
    return ".Bd -literal\n" + "".join(f"{line}\n" for line in lines).replace("\\", "\\e").replace("-", "\\-") + ".Ed\n"


def comparison(section):
    more = section.get("columns", [])
    rows = [[row["name"], number(row["median"]), f"{number(row['q1'])} to {number(row['q3'])}", times(row["ratio"]),
             *(number(row.get(name)) for name in more)] for row in section["rows"]]
    return table(["", f"median, {section['unit']}", "quartiles", f"to {section['base']}", *more], rows)


def curve(section):
    places = sorted({point["x"] for line in section["lines"] for point in line["points"]})
    found = [{point["x"]: point for point in line["points"]} for line in section["lines"]]
    rows = [[f"{x:,}", *(number(points[x]["median"]) if x in points else "" for points in found)] for x in places]
    return table([section["x"], *(f"{section['y']}: {line['name']}" for line in section["lines"])], rows)


def part(measured):
    """The tables of one measurement, and why something is missing in it."""
    out = []
    for section in measured["sections"]:
        skipped = "".join(f".Pp\nNot measured: {row['name']}, {row['reason']}\n" for row in section["skipped"])
        out.append(f".Pp\n{section['title'][:1].upper() + section['title'][1:]}:\n"
                   + {"comparison": comparison, "curve": curve}[section["kind"]](section) + skipped)
    return "".join(out)


def goals(told):
    answers = {True: "yes", False: "no", None: "not measured"}
    return table(["", "at most", "found", "met"],
                 [[f"{row['measurement']}: {row['title']}: {row['name']} to {row['of']}".replace(": processor time of a job", "")
                   .replace(": A program that prints a word", "").replace(": jobs of tenants with weights, for 100 of weight", ""),
                   f"{row['at_most']:.2f}", times(row["ratio"]), answers[row["met"]]] for row in told["goals"]])


def machine(told):
    found, processor = told["machine"], told["machine"]["processor"]
    programs = ", ".join(text for text in found["programs"].values() if text)
    virtual = " of a virtual machine" if processor["virtual"] else ""
    return (f".Bl -tag -width Ds\n.It Em processors\n{processor['usable']}, {processor['model']}, {processor['mhz']} MHz{virtual}\n"
            f".It Em memory\n{found['memory']['total_mib']} MiB\n"
            f".It Em system\n{found['distribution']}, Linux {found['kernel']}, {found['architecture']}, cgroups {found['cgroups']}\n"
            f".It Em programs\n{programs}\n.It Em hotcell\nas of {told['started'][:10]}, by {'root' if found['root'] else 'an ordinary user'}\n.El\n")


def parts(told, prefix):
    """{marker of a template: the text in its place}"""
    return {f"{prefix}_MACHINE": machine(told), f"{prefix}_GOALS": goals(told),
            **{f"{prefix}_{measured['name'].upper()}": part(measured) for measured in told["measurements"]}}


def trimmed(value):
    if isinstance(value, dict):
        return {key: trimmed(inner) for key, inner in value.items() if key not in LEFT_OUT}
    return [trimmed(inner) for inner in value] if isinstance(value, list) else round(value, 5) if isinstance(value, float) else value


def read(path):
    return json.loads(Path(path).read_text(encoding="utf-8"))


def fill(report, other, template):
    known = {**parts(read(report), "MEASURED"), **parts(read(other), "OTHER")}

    def replaced(match):
        if match[1] not in known:
            sys.exit(f"measured.py: {report} and {other} have no part @{match[1]}@")
        return known[match[1]]
    return re.sub(r"^@([A-Z]+_[A-Z]+)@\n", replaced, Path(template).read_text(encoding="utf-8"), flags=re.M)


def main(report, *page):
    return fill(report, *page) if page else json.dumps(trimmed(read(report)), indent=1) + "\n"


if __name__ == "__main__":
    sys.stdout.write(main(*sys.argv[1:]))
