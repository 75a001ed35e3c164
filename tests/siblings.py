"""Cells of one zygote, as tests/warm/siblings.c makes them: libhotcell, without a command line between."""

import json
import subprocess

import cells

SIBLINGS = cells.BUILD / "warm" / "siblings"
LIMITS = {"memory": "256M"}


class Siblings:
    """Cells of one zygote: parked when this begins, each to run `code`."""

    def __init__(self, code, count, user=None, policy=None, how="park", env=None, **spec):
        self.user = user or cells.caller()
        self.directory = cells.new_directory(self.user)
        if policy is not None:
            path = self.directory.parent / f"{self.directory.name}.policy.json"
            path.write_text(json.dumps({"extends": "default", "name": "warm", **policy}))
            spec["policy"] = str(path)
        spec_path = self.directory.parent / f"{self.directory.name}.spec.json"
        spec_path.write_text(json.dumps({"code": code, "tree": cells.tree_path("base"), "limits": LIMITS, **spec}))
        self.process = subprocess.Popen(
            [SIBLINGS, how, str(count), spec_path], cwd=self.directory, env={**self.user.environment(), **(env or {})},
            text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **self.user.popen_arguments())
        line = self.process.stdout.readline()
        if how != "bench" and (not line.startswith("[") or line == "[]\n"):
            self.process.kill()
            raise AssertionError(f"no cells: {line} {self.process.communicate()}")
        self.pids = json.loads(line) if how != "bench" else []

    def manifests(self):
        out, err = self.process.communicate("go\n", timeout=cells.PATIENCE)
        assert self.process.returncode == 0, err
        decoder, found = json.JSONDecoder(), []
        while out := out.lstrip():
            manifest, end = decoder.raw_decode(out)
            found.append(manifest)
            out = out[end:]
        return found

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()


def parent(pid):
    return int(cells._read(f"/proc/{pid}/stat").rpartition(")")[2].split()[1])
