"""The package as a wheel: made without network, installed into an environment, and its hotcell is the one on PATH."""

import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import cells
import pytest

SOURCES = Path(__file__).resolve().parents[2]
PACKAGE = SOURCES / "src/python/hotcell"


def output_of(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module", name="wheel")
def made_wheel(tmp_path_factory):
    """Of a copy, as setuptools writes beside what it packs."""
    for module in ("pip", "setuptools", "wheel", "venv"):
        if importlib.util.find_spec(module) is None:
            cells.skip(f"the module {module} is missing: scripts/deps names its package")
    top = tmp_path_factory.mktemp("checkout")
    output_of("cp", "-R", "--parents", "pyproject.toml", "src/python", str(top), cwd=SOURCES)
    output_of(sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-index", "--no-deps", "-w", str(top / "wheels"), ".", cwd=top)
    made, = (top / "wheels").iterdir()
    return made


def test_the_wheel_is_pure_and_has_every_module(wheel):
    version = output_of(cells.HOTCELL, "--version").split()[1]
    assert wheel.name == f"hotcell-{version}-py3-none-any.whl"
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert packed == {str(path.relative_to(PACKAGE.parent)) for path in PACKAGE.rglob("*") if path.suffix == ".py" or path.name == "py.typed"}


def test_what_is_installed_of_it_runs_the_hotcell_on_path(wheel, base_tree, tmp_path):
    output_of(sys.executable, "-m", "venv", tmp_path / "env")
    python = tmp_path / "env/bin/python"
    output_of(python, "-m", "pip", "install", "--no-index", wheel)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/hotcell").symlink_to(cells.HOTCELL)
    environment = {**os.environ, "PATH": f"{tmp_path}/bin:/usr/bin:/bin"}
    for name in ("HOTCELL", "PYTHONPATH"):
        environment.pop(name, None)
    program = f"import hotcell; print(hotcell.__file__, hotcell.run('6 * 7', tree={cells.tree_path('base')!r}, output_dir='out').value)"
    where, value = output_of(python, "-c", program, cwd=tmp_path, env=environment).split()
    assert where.startswith(f"{tmp_path}/env/lib/") and value == "42"
    started = subprocess.run([tmp_path / "env/bin/hotcell-runner", "nowhere.json"], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (started.returncode, started.stderr) == (65, "hotcell-runner: nowhere.json: No such file or directory\n")
    environment["PATH"] = "/usr/bin:/bin"
    done = subprocess.run([python, "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert done.returncode == 1 and "no hotcell command: install it" in done.stderr.splitlines()[-1]
