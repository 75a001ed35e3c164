"""Programs kept as files: what they declare in their head, and many of them run side by side.

A program's first comment line says what it is; the following lines `# key: value` are its settings. `# until: 3.12` names the
last Python that has what the program is about: the corpus of a later one is without it.
"""

import concurrent.futures
import dataclasses
import functools
import os
import re
import subprocess
import sys
from pathlib import Path

import cells

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
PYTHON = "/usr/bin/python3"
WORKERS = max(2, os.cpu_count() or 1)


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    about: str
    settings: dict
    text: str

    @property
    def tree(self):
        return self.settings.get("tree", "base")


@functools.cache
def programs(folder, *others, suffix=".py"):
    """All programs of a corpus (a folder below CORPUS, or another's path), by name; `others` are names of what is none."""
    found = {}
    for path in sorted(path for path in (CORPUS / folder).glob(f"*{suffix}") if path.stem not in others):
        text = path.read_text(encoding="utf-8")
        about, *head = text.split("\n")
        settings = {}
        for line in head:
            setting = re.fullmatch(r"# (\w+): (.+)", line)
            if not setting:
                break
            settings[setting[1]] = setting[2]
        assert about.startswith("# "), f"{path}: the first line says what the program is"
        if "until" in settings and sys.version_info[:2] > tuple(map(int, settings["until"].split("."))):
            continue
        found[path.stem] = Program(path.stem, about[2:], settings, text)
    assert found, f"no programs in {CORPUS / folder}"
    return found


def outside(text, user, cwd, env=None):
    """The program in the system's own interpreter, as an ordinary user, in a directory of its own."""
    program = cwd.parent / f"{cwd.name}.plain.py"
    program.write_text(text, encoding="utf-8")
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(cwd), "LANG": "C.UTF-8", "TMPDIR": str(cwd),
                   "MPLBACKEND": "Agg", "MPLCONFIGDIR": str(cwd), "PYTHONDONTWRITEBYTECODE": "1", **(env or {})}
    return subprocess.run([PYTHON, program], cwd=cwd, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, errors="replace", check=False, timeout=cells.PATIENCE, **user.popen_arguments())


def side_by_side(work, names):
    """work(name) for every name, as many at a time as there are processors; results by name, exceptions included."""
    def guarded(name):
        try:
            return work(name)
        except Exception as error:  # the test of this name shows it, not all of them
            return error

    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        return dict(zip(names, pool.map(guarded, names)))


def selected(request, argument):
    """Which names the tests of the requesting module were selected with: -k then runs no others."""
    items = [item for item in request.session.items if item.path == request.node.path and hasattr(item, "callspec")]
    return sorted({item.callspec.params[argument] for item in items if argument in item.callspec.params})
