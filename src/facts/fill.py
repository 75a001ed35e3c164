"""Puts the rows of hotcell's tables into files that the build makes: 
fill.py FACTS.json TEMPLATE [MANIFEST.SCHEMA.JSON], or fill.py FACTS.json --python | --report.

FACTS.json is what the program facts prints. A line of a template that is a marker, such as @OPTIONS@, is replaced by the rows in the
form that the template needs: items of an mdoc(7) list, properties of a JSON Schema, names. --python prints the module facts.py of
the Python package, --report what `hotcell report` knows of limits.
"""

import json
import re
import sys
from pathlib import Path

NUMBERS = {"seconds": ("number", ", in seconds", "float"), "bytes": ("integer", ", in bytes", "int"), "count": ("integer", "", "int")}
TYPES = {"size": "size", "duration": "duration", "count": "integer", "milli": "number", "choice": "string", "name": "string"}
WIDTH = 110  # characters of a text in one line of facts.py
NULLABLE = {True: '"type": ["string", "null"], "minLength": 1', False: '"type": "string", "minLength": 1'}


# ---- man pages ----

def sentences(text):
    """Each sentence begins a line, as mdoc(7) asks for."""
    return text.replace("\\", "\\e").replace(". ", ".\n")


def marked(text):
    """Names of members, such as limits.pids, are set in bold."""
    lines = [""]
    for word in text.split():
        name = re.match(r"(?:limits|output)\.[a-z_.]*[a-z_]", word)
        if not name:
            lines[-1] += f"{' ' if lines[-1] else ''}{word}"
            continue
        rest = word[name.end():]
        lines += [f".Sy {name[0]}{' ' + rest if rest else ''}", ""]
    return "\n".join(line for line in lines if line)


def items(rows):
    return "".join(f".It Sy {row['name']}\n{marked(row['text'])}\n" for row in rows)


def body_of_option(row):
    lines = [sentences(row["text"])]
    if row["kind"] != "name":
        lines.append(f"{'One of:' if row['kind'] == 'choice' else 'From'} {row['bounds']}.")
    if row["kind"] != "name" or row["default"]:
        lines.append(f"Default: {row['default']}.")
    return "\n".join(lines) + "\n"


def flags(rows):
    return "".join(f".It Fl {row['letter'] + ' , -' if row['letter'] else '-'}{row['flag']} Ar {row['arg']}\n{body_of_option(row)}" for row in rows)


def fields(rows):
    return "".join(f".It Sy {row['name']} No = Ar {TYPES[row['kind']]}{' Pq Fl -' + row['flag'] if 'flag' in row else ''}\n{body_of_option(row)}"
                   for row in rows)


def rules(rows):
    def choices(row):
        names = row.get("choices", [])
        return "One of\n" + "".join(f".Cm {name} {',' if name != names[-1] else '.'}\n" for name in names) if names else ""
    return "".join(f".It Cm {row['section']} . Ns Cm {row['name']} : No {row['kind']}\n{sentences(row['text'])}\n{choices(row)}" for row in rows)


def job_flags(rows):
    return "".join(f".It Fl -{row['flag']}{' Ar ' + row['arg'] if 'arg' in row else ''}\n{row['text']}\n" for row in rows)


def job_members(rows):
    return "".join(f".It Sy {row['name']}\n{'Text' if 'arg' in row else 'True or false'}, as\n.Fl -{row['flag']} .\n" for row in rows if row["own"])


def bold(names):
    return f".Sy {' , '.join(names)}"


# ---- JSON ----

def names(texts, indent="        "):
    return "".join(f'{indent}"{text}",\n' for text in texts)


def joined(texts):
    return ", ".join(f'"{text}"' for text in texts) + "\n"


def without_last_comma(text):
    return text.removesuffix(",\n") + "\n"


def is_limit(row):
    return row["name"].startswith("limits.")


def limit_schema(row):
    """Times are seconds and processors may be parts of one: not whole numbers."""
    if row["kind"] == "choice":
        return f'{{"enum": [{joined(row["choices"]).strip()}]}}'
    whole = row["kind"] in ("size", "count")
    return (f'{{"description": {json.dumps(row["plain"])}, "type": "{"integer" if whole else "number"}", '
            f'"minimum": {int(row["kind"] == "count" and row["positive"])}}}')


ASKED = {"size": ["string", "integer"], "duration": ["string", "number"], "count": "integer", "milli": "number"}


def asked_schema(row):
    """What a request may give for a limit: sizes and durations as numbers or as text."""
    if row["kind"] == "choice":
        return limit_schema(row)
    return json.dumps({"description": row["text"], "type": ASKED[row["kind"]]}, ensure_ascii=False)


def asked_limits(rows):
    return without_last_comma("".join(f'     "{row["name"].removeprefix("limits.")}": {asked_schema(row)},\n' for row in rows))


def usage_schema(row):
    kind, behind, _ = NUMBERS[row["unit"]]
    return f'"{row["name"]}": {{"description": "{row["text"]}{behind}", "type": ["{kind}", "null"], "minimum": 0}},\n'


def enforced_schema(name):
    return (f'            "{name}": {{\n              "description": "What enforced it: \\"cgroup\\", \\"rlimit+watch\\", \\"tmpfs\\", \\"none\\"...",\n'
            '              "type": ["string", "null"],\n              "minLength": 1\n            },\n')


def job_schema(rows):
    def choices(row):
        return f',\n      "enum": [{joined(row["choices"]).strip()}]' if "choices" in row else ""
    return "".join(f'     "{row["name"]}": {{\n      "type": "{"string" if "arg" in row else "boolean"}"{choices(row)}\n     }},\n' for row in rows)


def denial_schema(row, refusers):
    schema = row.get("schema", NULLABLE[row["may_lack"]]).replace("@", joined(by["name"] for by in refusers).strip())
    return f'"{row["name"]}": {{"description": "{row["text"]}", {schema}}},\n'


# ---- markers ----

def parts(facts):
    """{marker: the text in its place}"""
    statuses, usage, denial, job = facts["statuses"], facts["usage"], facts["denial"], facts["job_options"]
    limits = [row for row in facts["options"] if is_limit(row)]
    enforced = facts["enforced"]
    return {
        "OPTIONS": flags(facts["options"]),
        "POLICY_OPTIONS": fields(facts["options"]),
        "POLICY_RULES": rules(facts["rules"]),
        "CONFIG_OPTIONS": fields(facts["config"]),
        "QUOTA_OPTIONS": fields(facts["quotas"]),
        "JOB_ITEMS": job_flags(job),
        "JOB_MEMBERS": job_members(job),
        "JOB_NOT_SENT": bold(row["name"] for row in job if row["own"] and not row["upload"]) + "\n",
        "JOB_OPTIONS": job_schema(row for row in job if row["upload"]),
        "RUN_ITEMS": bold(row["name"] for row in job if row["run"]) + " .\n",
        "RUN_OPTIONS": job_schema(row for row in job if row["run"]),
        "LIMITS": "".join(f'        "{row["name"].removeprefix("limits.")}": {limit_schema(row)},\n' for row in limits),
        "JOB_LIMITS": asked_limits(limits),
        "RUN_LIMITS": asked_limits(row for row in limits if row["of_run"]),
        "LIMIT_NAMES": names(row["name"].removeprefix("limits.") for row in limits),
        "ENFORCED": f"{bold(enforced[:-1])}\nand\n.Sy {enforced[-1]}\n",
        "ENFORCED_BY": without_last_comma("".join(enforced_schema(name) for name in enforced)),
        "ENFORCED_BY_NAMES": without_last_comma(names(enforced, " " * 12)),
        "STATUSES": items(statuses),
        "STATUS_NAMES": joined(row["name"] for row in statuses),
        "ENDED_STATUS_NAMES": joined(row["name"] for row in statuses if row["ended"]).strip() + ",\n",
        "USAGE": items(usage),
        "USAGE_PROPERTIES": "".join(usage_schema(row) for row in usage),
        "USAGE_NAMES": names((row["name"] for row in usage), ""),
        "DENIALS": items(denial),
        "REFUSERS": items(facts["refusers"]),
        "DENIAL_PROPERTIES": without_last_comma("".join(denial_schema(row, facts["refusers"]) for row in denial)),
        "DENIAL_NAMES": joined(row["name"] for row in denial),
        "LAYERS": items(facts["layers"]),
    }


def component(schema):
    """The schema of manifests as a component of openapi.json."""
    text = re.sub(r'^.*"\$schema":.*\n', "", schema, flags=re.M)
    return text.replace('"#/$defs/', '"#/components/schemas/Manifest/$defs/')


def fill(template, facts, manifest=None):
    known = parts(facts)
    if manifest is not None:
        known["MANIFEST"] = component(manifest)

    def part(match):
        if match[1] not in known:
            sys.exit(f"fill.py: there is no part @{match[1]}@")
        return known[match[1]]
    return re.sub(r"^@([A-Z_]+)@\n", part, template, flags=re.M)


# ---- the module facts.py ----

def literal(text):
    """A long text becomes several literals, one a line, which Python puts together."""
    lines = []
    while len(text) > WIDTH:
        end = text.rindex(" ", 0, WIDTH) + 1
        lines.append(text[:end])
        text = text[end:]
    return "".join(f"\n        {json.dumps(line, ensure_ascii=False)}" for line in [*lines, text])


MODULE = '''"""What a manifest can say, as the programs of hotcell know it.

`make generated` makes this file of the tables src/manifest/*.def: edit those.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, NamedTuple, Optional


class Status(NamedTuple):
    """A way in which a job can end."""

    exit_code: int  # of hotcell run
    limit: bool  # did a limit end it?
    text: str


STATUSES: Dict[str, Status] = {{
{statuses}}}


@dataclass(frozen=True)
class Usage:
    """The resources that the job used: bytes, seconds and counts. None: not known."""

{usage}

class Number(NamedTuple):
    """The name, unit and description of a member of Usage."""

    unit: str  # "seconds", "bytes" or "count"
    text: str


NUMBERS: Dict[str, Number] = {{
{numbers}}}


@dataclass(frozen=True)
class Denial:
    """An action of the program that was refused, `count` times. `attested`: it was seen from outside the program's process,
    and belongs to this program; in a session, code that an earlier run left may have caused the others."""

{denial}

LAYERS: Dict[str, str] = {{
{layers}}}
'''


def module(facts):
    def lines(rows, form):
        return "".join(f"    {form(row)}\n" for row in rows)
    return MODULE.format(
        statuses=lines(facts["statuses"], lambda row: f'"{row["name"]}": Status({row["exit"]}, {row["limit"]},{literal(row["text"])}),'),
        usage=lines(facts["usage"], lambda row: f"{row['name']}: Optional[{NUMBERS[row['unit']][2]}] = None"),
        numbers=lines(facts["usage"], lambda row: f'"{row["name"]}": Number("{row["unit"]}",{literal(row["text"])}),'),
        denial=lines(facts["denial"], lambda row: f"{row['name']}: {row['python']}"),
        layers=lines(facts["layers"], lambda row: f'"{row["name"]}":{literal(row["text"])},'))


def report(facts):
    """The version, and of each limit its kind and its help."""
    kinds = {"size": "size", "duration": "duration"}
    return json.dumps({"version": facts["version"],
                       "limits": {row["name"]: [kinds.get(row["kind"], ""), row["text"]] for row in facts["options"] if is_limit(row)}}, indent=1) + "\n"


def main(path, what, manifest=None):
    facts = json.loads(Path(path).read_text(encoding="utf-8"))
    if what == "--python":
        return module(facts)
    if what == "--report":
        return report(facts)
    return fill(Path(what).read_text(encoding="utf-8"), facts, manifest and Path(manifest).read_text(encoding="utf-8"))


if __name__ == "__main__":
    sys.stdout.write(main(*sys.argv[1:]))
