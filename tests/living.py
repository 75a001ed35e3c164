"""Sessions that live, for tests: `hotcell session` as a program talks to it.

    with living.Session() as session:
        session.run("x = 1")
        assert session.run("x + 1").value == 2
"""

import dataclasses
import json
import subprocess

import cells


@dataclasses.dataclass
class Run:
    number: int
    state: str
    manifest: dict

    @property
    def status(self):
        return self.manifest["status"]

    @property
    def value(self):
        return self.manifest["guest"]["value"]["application/json"]

    @property
    def stdout(self):
        return self.manifest["stdout"]["text"]

    def __repr__(self):
        m = self.manifest
        return (f"<run {self.number}, {self.state}: {m['status']}, {m['reason']}, stdout {m['stdout']['text'][-400:]!r}, "
                f"stderr {m['stderr']['text'][-800:]!r}, warnings {m['warnings']}>")


class Session:
    def __init__(self, *options, policy=None, user=None, tree="base", env=None):
        self.user = user or cells.caller()
        self.directory = cells.new_directory(self.user)
        self.output = self.directory / "out"
        given = {str(option).partition("=")[0] for option in options}
        bounds = [f"{name}={value}" for name, value in cells.BOUNDS.items() if name not in given]
        command = [cells.HOTCELL, "session", *bounds, "-t", cells.tree_path(tree), "-o", self.output, *options]
        if policy:
            command += ["-p", policy]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, cwd=self.directory, env={**self.user.environment(), **(env or {})},
                                        **self.user.popen_arguments())
        self.ready = self.answer()
        assert self.ready["event"] == "ready", self.ready

    def answer(self):
        line = self.process.stdout.readline()
        assert line, f"the session ended: {self.process.wait()}, {self.process.stderr.read()}"
        return json.loads(line)

    def ask(self, request):
        self.process.stdin.write(request if isinstance(request, str) else json.dumps(request))
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def result(self):
        answer = self.answer()
        assert answer["event"] == "result", answer
        return Run(answer["run"], answer["state"], answer["manifest"])

    def run(self, code, **spec):
        self.ask({"run": {"code": code, **spec}})
        return self.result()

    def close(self):
        if self.process.stdin:
            self.process.stdin.close()
        if not self.process.stdout.closed:
            self.process.stdout.read()  # its last line may be longer than a pipe holds
        status = self.process.wait(cells.PATIENCE)
        self.process.stdout.close()
        self.process.stderr.close()
        return status

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()
