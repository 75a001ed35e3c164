"""Programs for each way in and each way out, in one session: each leaves what it leaves in a plain Python with the same input.

A way in sets `lines`, a list of texts; a way out does something with `lines` that somebody can see. Every way in is combined with
every way out, and with one of several things that are done in between."""

import gzip
import io
import itertools
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import cells

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src" / "python"))
import hotcell  # noqa: E402

LINES = ["pear 3", "äpfel 12", "fig 7", "", "pear 1"]
TEXT = "".join(line + "\n" for line in LINES)

# name -> (its code, what the job is given)
WAYS_IN = {
    "input": ("lines = []\ntry:\n    while True:\n        lines.append(input())\nexcept EOFError:\n    pass", {"input": TEXT}),
    "read": ("import sys\nlines = sys.stdin.read().splitlines()", {"input": TEXT}),
    "iterate": ("import sys\nlines = [line.rstrip('\\n') for line in sys.stdin]", {"input": TEXT}),
    "readline": ("import sys\nlines = [line.rstrip('\\n') for line in iter(sys.stdin.readline, '')]", {"input": TEXT}),
    "bytes": ("import sys\nlines = sys.stdin.buffer.read().decode().split('\\n')[:-1]", {"input": TEXT}),
    "descriptor": ("lines = open(0, encoding='utf-8', closefd=False).read().split('\\n')[:-1]", {"input": TEXT}),
    "csv of stdin": ("import csv, sys\nlines = [' '.join(row) for row in csv.reader(sys.stdin, delimiter=' ')]", {"input": TEXT}),
    "json of stdin": ("import json, sys\nlines = json.load(sys.stdin)['lines']", {"input": json.dumps({"lines": LINES})}),
    "no input": ("import sys\nlines = [repr(sys.stdin.read()), str(sys.stdin.isatty()), *map(str, range(3))]", {}),
    "argv": ("import sys\nlines = sys.argv[1:]", {"args": LINES}),
    "argparse": ("import argparse\np = argparse.ArgumentParser()\np.add_argument('--line', action='append')\np.add_argument('-n', type=int, default=9)\n"
                 "a = p.parse_args()\nlines = a.line[:a.n]", {"args": ["-n", "4", *(word for line in LINES for word in ("--line", line))]}),
    "getopt": ("import getopt, sys\noptions, rest = getopt.getopt(sys.argv[1:], 'v', ['first='])\nlines = [dict(options)['--first'], *rest]",
               {"args": ["-v", "--first=one", *LINES]}),
    "environment": ("import os\nlines = os.environ['LINES'].split('|')", {"env": {"LINES": "|".join(LINES), "OTHER": "x"}}),
    "getenv": ("import os\nlines = [os.getenv('A', 'none'), os.getenv('B', 'none'), os.environ.get('C') or 'none']", {"env": {"A": "ä=1", "B": ""}}),
    "file": ("lines = open('words.txt', encoding='utf-8').read().splitlines()", {"files": {"words.txt": TEXT.encode()}}),
    "binary file": ("lines = [str(byte) for byte in open('some.bin', 'rb').read()]", {"files": {"some.bin": bytes(range(0, 256, 5))}}),
    "file by argument": ("import sys\nfrom pathlib import Path\nlines = Path(sys.argv[1]).read_text('utf-8').splitlines()",
                         {"files": {"named.log": TEXT.encode()}, "args": ["named.log"]}),
    "gzip": ("import gzip\nlines = gzip.open('words.gz', 'rt', encoding='utf-8').read().splitlines()",
             {"files": {"words.gz": gzip.compress(TEXT.encode(), mtime=0)}}),
    "directory": ("import os\nlines = [open(os.path.join(PLACE, name)).read() for name in sorted(os.listdir(PLACE)) if name != 'below']", {}),
    "glob": ("from pathlib import Path\nlines = [str(path.relative_to(PLACE)) for path in sorted(Path(PLACE).rglob('*'))]", {}),
}
BETWEEN = itertools.cycle(["lines = sorted(lines)", "lines = [line.upper() for line in lines]", "lines = lines[::-1]", "lines = list(dict.fromkeys(lines))",
                           "lines = [f'{len(line)}:{line}' for line in lines]"])
# name -> (its code, how a file that it leaves is read; None: as bytes)
WAYS_OUT = {
    "print": ("print(*lines, sep='\\n')", None),
    "write": ("import sys\nsys.stdout.buffer.write('\\n'.join(lines).encode())\nsys.stdout.flush()", None),
    "stderr": ("import sys\nprint(lines, file=sys.stderr)", None),
    "exit": ("import sys\nprint(len(lines))\nsys.exit(len(lines) % 200)", None),
    "text file": ("open('out.txt', 'w', encoding='utf-8').write('\\n'.join(lines))", None),
    "csv file": ("import csv\nwith open('out.csv', 'w', newline='') as f:\n    csv.writer(f).writerows(enumerate(lines))", None),
    "json file": ("import json\njson.dump(lines, open('out.json', 'w'))", None),
    "directories": ("import os\nos.makedirs('a/b')\nfor i, line in enumerate(lines):\n    open(f'a/b/{i}', 'w').write(line)", None),
    "zip": ("import zipfile\nwith zipfile.ZipFile('out.zip', 'w') as z:\n    z.writestr('lines', '\\n'.join(lines))",
            lambda data: zipfile.ZipFile(io.BytesIO(data)).read("lines")),
    "gzip": ("import gzip\nwith gzip.open('out.gz', 'wb') as f:\n    f.write('\\n'.join(lines).encode())", gzip.decompress),
    "value": ("lines", None),
    "tagged value": ("({1: tuple(lines)}, {'a'}, 2 ** 70, float('inf'), b'x')", None),
}


CLEAR = """
import os, shutil
for name in os.listdir("/output"):
    path = os.path.join("/output", name)
    (shutil.rmtree if os.path.isdir(path) else os.unlink)(path)
"""


def is_value(code):
    return code.splitlines()[-1].startswith(("lines", "({"))


def files_of(found, given, read):
    return {name: read(data) if read else data for name, data in found.items() if name not in given.get("files", {})}


def outside(code, given, place, read):
    """The traces that the program leaves in a plain Python."""
    (place / "work").mkdir(parents=True)
    for name, data in given.get("files", {}).items():
        (place / "work" / name).write_bytes(data)
    *body, last = code.splitlines()
    (place / "program.py").write_text("\n".join([*body, f"print(repr({last}))" if is_value(code) else last]))
    done = subprocess.run([sys.executable, "-X", "utf8", place / "program.py", *given.get("args", ())], cwd=place / "work", check=False, capture_output=True,
                          input=given.get("input", "").encode(), env={"PATH": "/usr/bin:/bin", **given.get("env", {})})
    found = {str(path.relative_to(place / "work")): path.read_bytes() for path in (place / "work").rglob("*") if path.is_file()}
    out = done.stdout.decode()
    return {"stdout": "" if is_value(code) else out, "stderr": done.stderr.decode(), "exit": done.returncode,
            "files": files_of(found, given, read), "value": out.strip() if is_value(code) else None}


def inside(session, code, given, read):
    """The traces that it leaves in a run of the session, whose working directory is empty before and after."""
    for name, data in given.get("files", {}).items():
        session.files.write(name, data)
    run = session.run(code, **{name: given[name] for name in ("input", "args", "env") if name in given})
    assert run.warnings == () and run.status in ("ok", "error"), run
    found = {file.path: file.read() for file in run.files}
    traces = {"stdout": str(run.stdout), "stderr": str(run.stderr), "exit": run.guest["exit"], "files": files_of(found, given, read),
              "value": repr(run.value) if is_value(code) else None}
    assert session.run(CLEAR).ok
    return traces


@pytest.fixture(name="session", scope="module")
def fixture_session(base_tree, tmp_path_factory):  # pylint: disable=unused-argument
    data = tmp_path_factory.mktemp("data")
    for name, text in (("one", "first"), ("two", "second"), ("below/three", "third")):
        (data / name).parent.mkdir(exist_ok=True)
        (data / name).write_text(text)
    with hotcell.Session(dirs=[{"host": data, "place": str(data)}], tree=cells.tree_path("base"), binary=cells.HOTCELL, policy="none",
                         timeout=20 * cells.SLOWNESS) as session:
        yield session, data


def test_there_are_two_hundred_programs():
    assert len(WAYS_IN) * len(WAYS_OUT) >= 200


@pytest.mark.parametrize("way_in", WAYS_IN)
def test_programs_leave_what_they_leave_outside(way_in, session, tmp_path):
    live, data = session
    first, given = WAYS_IN[way_in]
    for (way_out, (last, read)), between in zip(WAYS_OUT.items(), BETWEEN):
        code = "\n".join([f"PLACE = {str(data)!r}", first, between, last])
        assert inside(live, code, given, read) == outside(code, given, tmp_path / way_out, read), way_out
