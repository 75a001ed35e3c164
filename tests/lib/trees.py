"""Stores of trees of a test's own, and small trees for them."""

import glob
import json
import os
import shutil
import subprocess

import cells

PYTHON = "/usr/bin/python3"
MINOR = subprocess.run([PYTHON, "-I", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True,
                       text=True, check=True).stdout.strip()

OTHERS = ["/usr/bin/python3.1[1-3]", "/usr/local/bin/python3.1[1-3]", "/root/.pyenv/versions/3.1[1-3].*/bin/python3"]

# As small as a tree can be that starts an interpreter: built in a second.
TINY = {
    "name": "tiny", "files": ["/usr/share/zoneinfo"], "exclude": ["/usr/share/zoneinfo/[A-TV-Zopr]*"],
    "stdlib_exclude": ["[abdfghjkmnpqrstuvwxyz]*", "c[p-z]*", "l[a-hj-z]*", "lib2to3", "lib-dynload/[a-z]*",
                       "lib-dynload/_[a-hj-rt-z]*", "e[a-mo-z]*", "ensurepip", "config-*", "idlelib", "importlib*",
                       "i[a-lnp-z]*", "concurrent", "collections", "EXTERNALLY*"],
}


def other_pythons():
    """{version: path} of interpreters for which there is a shim, without hotcell's own."""
    found = {}
    for path in (path for pattern in OTHERS for path in glob.glob(pattern)):
        asked = subprocess.run([path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True, check=False)
        if asked.returncode == 0 and (cells.BUILD / f"hotcell-shim-{asked.stdout.strip()}").exists():
            found[asked.stdout.strip()] = path
    found.pop(MINOR, None)
    return found


class Store:
    """A state directory, and hotcell with it."""

    def __init__(self, path):
        self.path = path
        self.env = {"HOTCELL_STATE": str(path)}

    def tree(self, *arguments, **more):
        return cells.hotcell("tree", *arguments, env=self.env, **more)

    def start_build(self, recipe):
        """A build in the middle, in a process group of its own."""
        process = subprocess.Popen([cells.HOTCELL, "tree", "build", recipe], start_new_session=True, text=True,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, **self.env})
        assert "standard library" in process.stderr.readline()
        return process

    def list(self):
        done = self.tree("list", "--json")
        assert done.returncode == 0, done.stderr
        return {row["name"]: row["id"] for row in json.loads(done.stdout)}

    def build(self, recipe, *options):
        done = self.tree("build", *options, recipe, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()[0]

    def run(self, name, code="print(6 * 7)"):
        program = self.path.parent / "program.py"
        program.write_text(code)
        return cells.hotcell("run", "-t", name, "--timeout", "10s", "program.py", env=self.env, cwd=program.parent)

    def entries(self):
        return sorted(entry.name for entry in (self.path / "trees").iterdir())


def write_recipe(folder, **keys):
    path = folder / f"{keys.get('name', 'tiny')}.json"
    path.write_text(json.dumps({**TINY, **keys}))
    return path


def unshare(path):
    """A copy instead of the link, which may be written to."""
    copy = path.with_name("copy")
    shutil.copy2(path, copy)
    copy.rename(path)
    return path
