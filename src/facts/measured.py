"""Puts a report of the benchmarks (tests/bench) into hotcell-bench(7): a part for each measurement, so that no figure is typed.

measured.py REPORT.json prints the report without the value of each round, as src/man/measured.json is kept;
measured.py REPORT.json OTHER.json TEMPLATE prints the page. Its parts are called @MEASURED_COLD@ and so on, @OTHER_WARM@ of the other report.
"""

import json
import re
import sys
from pathlib import Path

VERSION = 1  # of reports (tests/bench/report.schema.json)
LEFT_OUT = ("values", "plot", "about")  # of a report: a page has medians and quartiles, and says in its own words what was measured


def wrong(said):
    sys.exit(f"measured.py: {said}")


def escaped(text):
    """What a report has, such as the name of a peer or what it said, as text of a page: none of it is a request to the formatter."""
    line = " ".join(str(text).split()).replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{line}" if line[:1] in (".", "'") else line


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
    shown = [[" ".join(str(cell).split()) for cell in row] for row in (head, *rows)]
    widths = [max(len(row[at]) for row in shown) for at in range(len(head))]
    lines = ["  ".join(cell.rjust(width) if at else cell.ljust(width) for at, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in shown]
    safe = [line.replace("\\", "\\e").replace("-", "\\-") for line in lines]
    return ".Bd -literal\n" + "".join(f"\\&{line}\n" if line[:1] in (".", "'") else f"{line}\n" for line in safe) + ".Ed\n"


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


def plain(section):
    return table(list(section["rows"][0]), [list(row.values()) for row in section["rows"]])


def empty(section):
    """Whether there is nothing to show, which a table would hide."""
    return not section.get("rows") and not any(line["points"] for line in section.get("lines", []))


def part(measured):
    """The tables of one measurement, and why something is missing in it."""
    why = measured["failed"] or measured["left_out"]
    out = [f".Pp\nNot measured: {escaped(why)}\n"] if why else []
    for section in measured["sections"]:
        if empty(section):
            wrong(f"measurement {measured['name']!r}: {section['title']!r} has no values")
        skipped = "".join(f".Pp\nNot measured: {escaped(row['name'])}, {escaped(row['reason'])}\n" for row in section["skipped"])
        out.append(f".Pp\n{escaped(section['title'][:1].upper() + section['title'][1:])}:\n"
                   + {"comparison": comparison, "curve": curve, "table": plain}[section["kind"]](section) + skipped)
    return "".join(out)


def against(ratio, most):
    """(at most, found): with three digits behind the point, or with as many as tell them apart."""
    if ratio is None:
        return f"{most:.3f}", "-"
    digits = next((digits for digits in (3, 4) if f"{ratio:.{digits}f}" != f"{most:.{digits}f}"), 5) if ratio > most else 3
    return f"{most:.{digits}f}", f"{ratio:.{digits}f}"


def goals(told):
    answers = {True: "yes", False: "no", None: "not measured"}
    return table(["", "at most", "found", "met"],
                 [[f"{row['measurement']}: {row['title']}: {row['name']} to {row['of']}".replace(": processor time of a job", "")
                   .replace(": A program that prints a word", "").replace(": jobs of tenants with weights, for 100 of weight", ""),
                   *against(row["ratio"], row["at_most"]), answers[row["met"]]] for row in told["goals"]])


def machine(told):
    found, processor = told["machine"], told["machine"]["processor"]
    programs = ", ".join(text for text in found["programs"].values() if text)
    virtual = " of a virtual machine" if processor["virtual"] else ""
    system = f"{found['distribution']}, Linux {found['kernel']}, {found['architecture']}, cgroups {found['cgroups']}"
    return (f".Bl -tag -width Ds\n.It Em processors\n{processor['usable']}, {escaped(processor['model'])}, {processor['mhz']} MHz{virtual}\n"
            f".It Em memory\n{found['memory']['total_mib']} MiB\n"
            f".It Em system\n{escaped(system)}\n.It Em programs\n{escaped(programs)}\n.It Em hotcell\nas of {told['started'][:10]}, by {'root' if found['root'] else 'an ordinary user'}\n.El\n")


def parts(told, prefix):
    """{marker of a template: the text in its place}"""
    return {f"{prefix}_MACHINE": machine(told), f"{prefix}_GOALS": goals(told),
            **{f"{prefix}_{measured['name'].upper()}": part(measured) for measured in told["measurements"]}}


def trimmed(value):
    if isinstance(value, dict):
        return {key: trimmed(inner) for key, inner in value.items() if key not in LEFT_OUT}
    return [trimmed(inner) for inner in value] if isinstance(value, list) else round(value, 5) if isinstance(value, float) else value


def read(path):
    """A report that can be shown: of this version, and no quick one."""
    try:
        told = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        wrong(f"{path}: {error.strerror if isinstance(error, OSError) else f'no report: {error}'}")
    version = told.get("version") if isinstance(told, dict) else None
    if version != VERSION:
        wrong(f"{path}: version {VERSION} of a report of tests/bench/run is expected, not {version}")
    if told.get("quick"):
        wrong(f"{path}: a quick run, whose numbers mean nothing: tests/bench/run without --quick")
    return told


def shown(path, prefix):
    try:
        return parts(read(path), prefix)
    except (KeyError, TypeError) as error:
        return wrong(f"{path}: not as tests/bench/report.schema.json has it: {type(error).__name__}: {error}")


def fill(report, other, template):
    known = {**shown(report, "MEASURED"), **shown(other, "OTHER")}

    def replaced(match):
        if match[1] not in known:
            wrong(f"{report} and {other} have no part @{match[1]}@")
        return known[match[1]]
    try:
        text = Path(template).read_text(encoding="utf-8")
    except OSError as error:
        wrong(f"{template}: {error.strerror}")
    page = re.sub(r"^@([A-Z]+_[A-Z]+)@$\n", replaced, text, flags=re.M)
    left = re.search(r"@(?:MEASURED|OTHER)_[^@\s]*@", page)
    if left:
        wrong(f"{template}: {left[0]} is not a line of its own")
    return page


def main(*words):
    if len(words) == 1:
        return json.dumps(trimmed(read(words[0])), indent=1) + "\n"
    if len(words) != 3:
        print("measured.py: usage: measured.py REPORT.json [OTHER.json TEMPLATE]", file=sys.stderr)
        sys.exit(64)
    return fill(*words)


if __name__ == "__main__":
    sys.stdout.write(main(*sys.argv[1:]))
