"""What README.md shows of commands is what they print."""

import re
import subprocess
from pathlib import Path

import cells
import pytest

TOP = Path(__file__).resolve().parents[2]
README = (TOP / "README.md").read_text(encoding="utf-8")


def consoles():
    """For each console block of which the output is shown: (commands and files, [(command, output)])."""
    for block in re.findall(r"```console\n(.*?)```", README, re.S):
        steps = [(command, output) for command, output in re.findall(r"^\$ ([^\n]*)\n((?:(?!\$ )[^\n]*\n)*)", block, re.M)]
        if any(output for _, output in steps) and not any("doctor" in command for command, _ in steps):  # test_doctor_drill has that one
            yield steps


def as_pattern(output):
    """The output as a regular expression: "..." stands for any lines, and names of figures are of each run."""
    lines = [r".*(?:\n.*)*" if line == "..." else re.sub(r"fig_[0-9a-f]{12}", "fig_[0-9a-f]{12}", re.escape(line)) for line in output.split("\n")]
    return "\n".join(lines)


@pytest.mark.parametrize("steps", list(consoles()), ids=lambda steps: steps[0][0].split()[1])
def test_commands_print_what_readme_shows(scientific, steps):
    here = cells.new_directory(cells.caller())
    for command, output in steps:
        if command.startswith("cat "):
            (here / command.split()[1]).write_text(output)
            continue
        command = command.replace("build/hotcell", str(cells.HOTCELL)).replace("tests/", f"{TOP}/tests/")
        done = subprocess.run(["sh", "-c", f"exec 2>&1; {command}"], cwd=here, capture_output=True, text=True, check=False, timeout=10 * cells.PATIENCE)
        assert re.fullmatch(as_pattern(output), done.stdout), done.stdout


def test_readme_is_short():
    assert README.count("\n") <= 200
