#!/usr/bin/python3
"""Runs pytest; a few tests that failed run again, by themselves, and then have to pass five times in a row: flaky_retry.py PYTEST ARGUMENT...

Thousands of tests share a loaded host, and now and then one of them meets a moment that its author did not foresee. Such a
test is named, so that it can be mended, and the rest of the run is not in vain. Five times, because one pass would say
little about something that happens now and then. What a fixture finds when it is taken down is of all its tests, and is
not tried again (conftest.py ends with another status then); nor is a run that did not come to its end (-x, --maxfail).
Ends with pytest's exit status. Its last lines name each unsteady test, "unsteady: NAME"; they are appended to the file
$HOTCELL_UNSTEADY, too, from which scripts/test says them at its end.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

TIMES = 5


def main(arguments):
    with tempfile.TemporaryDirectory(prefix="hotcell-pytest-") as folder:
        first = Path(folder, "first")
        status = run(first, arguments)
        if status != pytest.ExitCode.TESTS_FAILED or any(a == "-x" or a.startswith(("--exitfirst", "--maxfail")) for a in arguments):
            return status
        unsteady = failed(first)
        for time in range(1, TIMES + 1):
            print(f"== what failed, again, by itself, {time} of {TIMES}: a test that passes each time is unsteady", flush=True)
            shutil.copytree(first, Path(folder, str(time)))
            status = run(Path(folder, str(time)), [*arguments, "-n", "0", "--last-failed", "--last-failed-no-failures", "none"],
                         HOTCELL_AGAIN="1")
            if status:
                return status
        name_unsteady(unsteady)
        return status


def failed(cache):
    """Names of the tests that failed in the run that has left this cache."""
    return sorted(json.loads((cache / "v" / "cache" / "lastfailed").read_text(encoding="utf-8")))


def name_unsteady(names):
    lines = "".join(f"unsteady: {name}\n" for name in names)
    print(lines, end="", flush=True)
    if os.environ.get("HOTCELL_UNSTEADY"):
        with open(os.environ["HOTCELL_UNSTEADY"], "a", encoding="utf-8") as file:
            file.write(lines)


def run(cache, arguments, **environment):
    return subprocess.run([sys.executable, "-m", "pytest", "-q", "-o", f"cache_dir={cache}", *arguments],
                          env={**os.environ, **environment}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
