"""Debian's packages: what "make deb" makes can be read, holds all that "make install" installs, and runs."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import cells

TOP = Path(__file__).resolve().parents[2]
PACKAGES = ["hotcell", "hotcell-tree-scientific", "hotcelld", "libhotcell-dev", "libhotcell0", "python3-hotcell"]

pytestmark = [pytest.mark.long, pytest.mark.skipif(not shutil.which("dh"), reason="debhelper is not installed: scripts/test installs it")]


def output_of(*command, **keywords):
    return subprocess.run(command, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL, **keywords).stdout


@pytest.fixture(scope="module", name="packages")
def made_packages(tmp_path_factory):
    """{name: path} of the packages: those in $HOTCELL_PACKAGES, which scripts/test has made, or made from a copy of the checkout, as the test is
    the only one that builds there."""
    made = packages_in(Path(os.environ.get("HOTCELL_PACKAGES", "/nonexistent")))
    if made:
        return made
    top = tmp_path_factory.mktemp("checkout")
    output_of("cp", "-R", *(str(TOP / name) for name in ("src", "policies", "rootfs", "scripts", "Makefile", "LICENSE", "README.md", "CHANGELOG.md",
                                                         "SECURITY.md")), str(top))
    (top / "tests/examples").mkdir(parents=True)
    shutil.copy(TOP / "tests/examples/wrapper.c", top / "tests/examples")
    done = subprocess.run(["make", "deb"], cwd=top, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    made = packages_in(top / "build" / "deb")
    assert sorted(made) == PACKAGES
    return made


def packages_in(folder):
    return {path.name.partition("_")[0]: path for path in folder.glob("*.deb") if "-dbgsym" not in path.name}


def unpack(packages, folder):
    for path in packages.values():
        output_of("dpkg-deb", "-x", str(path), str(folder))


def names_below(folder):
    return {re.sub(r"\.gz$", "", str(path.relative_to(folder))) for path in folder.rglob("*") if not path.is_dir()}


def test_all_that_is_installed_is_in_one_of_the_packages(packages, tmp_path):
    output_of("make", "install", f"DESTDIR={tmp_path}/by-make", "PREFIX=/usr", "PYTHONDIR=/usr/lib/python3/dist-packages",
              "ZSHDIR=/usr/share/zsh/vendor-completions", f"LIBDIR=/usr/lib/{output_of('gcc', '-print-multiarch').strip()}", cwd=TOP)
    unpack(packages, tmp_path / "by-dpkg")
    packed = {name.replace("lib/systemd/", "usr/lib/systemd/", 1) if name.startswith("lib/") else name for name in names_below(tmp_path / "by-dpkg")}
    missing = names_below(tmp_path / "by-make") - packed
    assert not missing
    listed = [output_of("dpkg-deb", "-c", str(path)) for path in packages.values()]
    assert not re.search("^-..[sS]", "".join(listed), re.M)  # no set-user-ID program


def test_lintian_finds_nothing(packages):
    changes, = packages["hotcell"].parent.glob("*.changes")
    done = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", str(changes)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_program_of_the_package_runs_with_its_own_policies(packages, base_tree, tmp_path):
    del base_tree
    unpack(packages, tmp_path)
    done = subprocess.run([tmp_path / "usr/bin/hotcell", "run", "-t", cells.tree_path("base"), "-o", tmp_path / "out", "-"],
                          input="print(6 * 7)", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "42\n"), done.stderr


def complete(script, *words):
    """What bash offers for the last of the words."""
    shell = f"source {script}; COMP_WORDS=(hotcell {' '.join(map(repr, words))}); COMP_CWORD={len(words)}; _hotcell; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    return output_of("bash", "-c", shell, cwd=script.parent).split()


def test_bash_completes_commands_options_and_policies():
    script = cells.BUILD / "completion" / "bash"
    assert complete(script, "ru") == ["run"]
    assert complete(script, "run", "--std") == ["--stderr-size", "--stdin", "--stdin-size", "--stdout-size"]
    assert complete(script, "run", "-p", "anal") == ["analysis"]
    assert complete(script, "tree", "ver") == ["verify"]
    assert complete(script, "check", "--live") == [] and complete(script, "run", "--live")
    assert complete(script, "nonesuch", "--std") == []
