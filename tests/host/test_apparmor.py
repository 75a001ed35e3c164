"""The profile of AppArmor: its parser takes it, and it allows user namespaces for what is installed, and confines nothing."""

import re
import subprocess
from pathlib import Path

import cells
import pytest

SOURCES = Path(__file__).resolve().parents[2]
PROFILE = SOURCES / "scripts/apparmor/hotcell"


def parser_version():
    cells.need_program("apparmor_parser")
    said = subprocess.run(["apparmor_parser", "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(int(part) for part in re.search(r"(\d+)\.(\d+)", said).groups())


def parse(path, *options):
    return subprocess.run(["apparmor_parser", "--skip-kernel-load", "--skip-cache", *options, str(path)], capture_output=True, text=True, check=False)


def test_the_parser_takes_the_profile():
    if parser_version() < (4, 0):
        pytest.skip("AppArmor before 4.0 knows neither the rule nor the restriction")
    done = parse(PROFILE)
    assert (done.returncode, done.stderr) == (0, "")
    assert parse(PROFILE, "--names").stdout == "hotcell\n"


def test_an_older_parser_takes_it_without_what_4_0_brought(tmp_path):
    """The rest is as it was in 3.0, so a mistake in it shows there, too."""
    parser_version()
    (tmp_path / "hotcell").write_text(PROFILE.read_text().replace("abi <abi/4.0>,\n", "").replace("  userns,\n", ""))
    done = parse(tmp_path / "hotcell", "--names")
    assert (done.returncode, done.stdout) == (0, "hotcell\n"), done.stderr


def test_an_installation_has_the_profile_for_its_own_programs(tmp_path):
    done = subprocess.run(["make", "-s", "-o", "all", "install", f"B={cells.BUILD}", f"DESTDIR={tmp_path}", "PREFIX=/opt/hotcell"], cwd=SOURCES,
                          capture_output=True, text=True, check=False, timeout=cells.PATIENCE)
    assert done.returncode == 0, done.stderr
    attached, = re.findall("^profile hotcell (\\S+) flags=.unconfined. {$", (tmp_path / "opt/hotcell/share/hotcell/apparmor/hotcell").read_text(), re.M)
    assert attached == "/opt/hotcell/bin/{hotcell,hotcelld}" and (tmp_path / "opt/hotcell/bin/hotcelld").exists()
