"""scripts/debian: what it says of a command line that it cannot take. scripts/test runs the rest of it."""
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts/debian"
USAGE = "scripts/debian [--user | --bare] RELEASE COMMAND..."


@pytest.mark.parametrize("arguments, said", [
    ([], f"a release and a command are missing: {USAGE}"),
    (["--user"], f"a release and a command are missing: {USAGE}"),
    (["--fast", "13", "true"], f"option '--fast' is not known: {USAGE}"),
    (["trixie", "true"], "release 'trixie' is not known: expected 12 or 13"),
    (["13"], "the command is missing: scripts/debian [--user | --bare] 13 COMMAND..."),
])
def test_a_command_line_that_cannot_be_taken_gets_one_line(arguments, said):
    done = subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (125, "", f"debian: {said}\n")
