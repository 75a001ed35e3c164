"""Cells of one zygote, as tests/warm/siblings.c makes them: libcell, without a command line between."""

import contextlib
import json
import os
import subprocess

import cells

SIBLINGS = cells.BUILD / "warm" / "siblings"
LIMITS = {"memory": "256M", "enforcement": "rlimits"}


class Siblings:
    """Cells of one zygote: parked when this begins, each to run `code`."""

    def __init__(self, code, count, user=None, policy=None, how="park", env=None, **spec):
        self.user = user or cells.caller()
        self.directory = cells.new_directory(self.user)
        self.spec_path = self.write_spec("spec", code, policy, **spec)
        self.start(how, count, env)

    def write_spec(self, name, code, policy=None, **spec):
        beside = self.directory.parent / self.directory.name
        if policy is not None:
            path = beside.with_suffix(".policy.json")
            path.write_text(json.dumps({"extends": "default", "name": "warm", **policy}))
            spec["policy"] = str(path)
        spec["limits"] = {**LIMITS, **spec.get("limits", {})}
        path = beside.with_suffix(f".{name}.json")
        path.write_text(json.dumps({"code": code, "tree": cells.tree_path("base"), **spec}))
        return path

    def start(self, how, count, env, *arguments, **more):
        self.process = subprocess.Popen(
            [SIBLINGS, how, str(count), self.spec_path, *arguments], cwd=self.directory, text=True,
            env={**self.user.environment(), **(env or {})},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more, **self.user.popen_arguments())
        line = self.process.stdout.readline()
        if how != "bench" and (not line.startswith("[") or line == "[]\n"):
            with self:
                raise AssertionError(f"no cells: {line} {self.process.communicate(timeout=cells.PATIENCE)}")
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


class Each(Siblings):
    """As Siblings, but each launcher runs a program of its own, all at once; `outputs` are what the programs print, as it comes."""

    def __init__(self, codes, user=None, policy=None, **spec):
        self.user = user or cells.caller()
        self.directory = cells.new_directory(self.user)
        self.spec_path = self.write_spec("spec", "pass", policy, **spec)
        pipes, jobs = [os.pipe() for _ in codes], []
        for number, code in enumerate(codes):
            jobs += [self.write_spec(str(number), code, policy, **spec), str(pipes[number][1])]
        self.start("each", len(codes), None, *jobs, pass_fds=[write for _, write in pipes])
        for _, write in pipes:
            os.close(write)
        self.outputs = [open(read, encoding="utf-8") for read, _ in pipes]
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def __exit__(self, *_):
        super().__exit__()
        for output in self.outputs:
            with contextlib.suppress(OSError):
                output.close()


def parent(pid):
    return int(cells._read(f"/proc/{pid}/stat").rpartition(")")[2].split()[1])
