"""What `make install` puts where, runs from there, and `make uninstall` takes away; and an upgrade under a daemon that runs."""

import os
import subprocess
import sys
from pathlib import Path

import cells
import daemons
import pytest
import trees

SOURCES = Path(__file__).resolve().parents[2]


def make(target, directory):
    """Of what is built: -o all."""
    environment = {name: value for name, value in os.environ.items() if name not in ("B", "WEAK", "MAKEFLAGS")}
    subprocess.run(["make", "-s", "-o", "all", target, f"B={cells.BUILD}", f"DESTDIR={directory}"], cwd=SOURCES, env=environment,
                   stdin=subprocess.DEVNULL, check=True, timeout=cells.PATIENCE)


@pytest.fixture(name="installed")
def an_installation(monkeypatch, base_tree):
    """Its prefix; cells and daemons of the test are its own."""
    directory = cells.new_directory(cells.caller())
    make("install", directory)
    prefix = directory / "usr/local"
    monkeypatch.setattr(cells, "HOTCELL", prefix / "bin/hotcell")
    monkeypatch.setattr(daemons, "HOTCELLD", prefix / "bin/hotcelld")
    return prefix


def files(directory):
    return [path for path in directory.rglob("*") if not path.is_dir()]


def test_what_is_installed_runs_and_goes_again(installed):
    package, = installed.glob("lib/python3*/dist-packages")
    script = f"import hotcell\nprint(hotcell.run('6 * 7', tree={cells.tree_path('base')!r}, output_dir='out').value)"
    env = {**os.environ, "PYTHONPATH": str(package), "HOTCELL": str(cells.HOTCELL)}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    where = cells.new_directory(cells.caller())
    done = subprocess.run([sys.executable, "-c", script], cwd=where, capture_output=True, text=True, check=True, timeout=cells.PATIENCE, env=env)
    assert done.stdout == "42\n"
    assert os.readlink(installed / "libexec/hotcell/hotcell-shim") == f"hotcell-shim-{trees.MINOR}"
    assert cells.hotcell("report", str(where / "out")).returncode == 0 and (where / "out/report.html").exists()
    assert (installed / "share/man/man8/hotcelld.8").exists() and list(package.rglob("*.pyc"))
    own = installed / "share/man/man1/another.1"
    own.touch()
    make("uninstall", installed.parent.parent)
    assert files(installed) == [own]


def upgrade(prefix):
    """The shim of another version, in the place of the one that is there."""
    shim, = (prefix / "libexec/hotcell").glob(f"hotcell-shim-{trees.MINOR}")
    version = cells.hotcell("--version").stdout.split()[1]
    program = shim.read_bytes()
    assert version.encode().ljust(20, b"\0") in program
    shim.unlink()
    shim.write_bytes(program.replace(version.encode().ljust(20, b"\0"), b"99.0.1".ljust(20, b"\0")))
    shim.chmod(0o755)
    return f"hotcell-shim: is of version 99.0.1, and was started by hotcell {version}: install hotcell as a whole, and restart hotcelld"


def test_a_shim_of_another_version_says_so(installed):
    what = upgrade(installed)
    result = cells.run("1")
    assert (result.status, result.stderr) == (70, f"hotcell: the interpreter did not start: {what}\n"), result


def test_after_an_upgrade_a_daemon_that_runs_asks_to_be_restarted(installed):
    with daemons.Daemon() as d:
        assert d.post("1").json["status"] == "ok"
        what = upgrade(installed)
        answer = d.post({"code": "1", "seed": 1})  # in a cell that is built for it
        assert answer.status == 500 and what in answer.json["detail"], answer
