"""Each row of job_options.def is also where people look for it: help, manual, the Python package."""

import inspect
import re
import sys

import cells
import daemons
import pytest

sys.path.insert(0, str(daemons.SOURCE / "python"))
import hotcell  # noqa: E402
from hotcell import daemon  # noqa: E402

ROWS = [(name, re.search(r'\.flag = "([^"]+)"', columns)[1], set(re.findall(r"HC_OF_([A-Z]+)", columns)),
         set(re.findall(r"HC_SPEC_([A-Z]+)", columns)))
        for name, columns in re.findall(r"^HC_JOB_(?:TEXT|FLAG)\((\w+),(.*?)\)$",
                                        (daemons.SOURCE / "job/job_options.def").read_text(encoding="utf-8"), re.M | re.S)]


@pytest.fixture(params=ROWS, ids=[row[0] for row in ROWS])
def row(request):
    return request.param


def test_the_rows_are_found():
    assert {"tenant", "persist_code"} <= {row[0] for row in ROWS}


def test_the_manual_and_the_help_of_hotcell_run_have_it(row):
    name, flag, commands, specs = row
    manual = cells.generated("man/hotcell.1")
    assert "RUN" not in commands or f"--{flag}" in cells.hotcell("run", "--help").stdout
    assert re.search(rf"^\.It (.*, )?(Fl )?-?-{flag}\b", manual, re.M)
    assert "OWN" not in specs or re.search(rf"^\.It Sy .*\b{name}\b", manual, re.M)


def test_the_python_package_takes_it(row):
    name, _, commands, specs = row
    assert "RUN" not in commands or name in inspect.signature(hotcell.run).parameters
    assert ("UPLOAD" in specs) == (name in daemon.spec_arguments())
