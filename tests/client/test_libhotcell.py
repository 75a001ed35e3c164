"""libhotcell, as a user's program has it: installed, found by pkg-config, compiled as C and as C++, with cells of this host and at a daemon.

The program is c/scenes.c: it prints a line of JSON for each thing that happens, and fails itself if the library leaves a descriptor, a
child or a signal's handler behind, or prints anything.
"""

import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

import cells
import daemons

SOURCES = Path(__file__).resolve().parents[2]
SCENES = Path(__file__).parent / "c" / "scenes.c"
STRICT = ["-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror", "-g"]
THREADS = 8

pytestmark = pytest.mark.skipif(cells.is_warm(), reason="a library of the usual build's")


def make(target, directory, *more):
    environment = {name: value for name, value in os.environ.items() if name not in ("B", "WEAK", "MAKEFLAGS")}
    done = subprocess.run(["make", "-s", "-o", "all", target, f"B={cells.BUILD}", f"DESTDIR={directory}", *more], cwd=SOURCES, env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=cells.PATIENCE, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module", name="prefix")
def an_installation(base_tree):
    """Where `make install` has put hotcell, for everybody to read."""
    del base_tree
    directory = cells.new_directory(cells.caller())
    make("install", directory)
    return directory / "usr/local"


def flags(prefix, *options):
    """What pkg-config says of the library in that installation."""
    root = prefix.parent.parent
    env = {**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig"), "PKG_CONFIG_SYSROOT_DIR": str(root)}
    return subprocess.run(["pkg-config", *options, "libhotcell"], env=env, capture_output=True, text=True, check=True).stdout.split()


def compile_program(command, source, prefix, *more, libraries=None):
    program = cells.new_directory(cells.caller()) / "program"
    libraries = libraries or flags(prefix, "--libs")
    done = subprocess.run([*command, *STRICT, str(source), *more, "-o", str(program), *flags(prefix, "--cflags"), *libraries, "-pthread"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return program


@pytest.fixture(scope="module", name="program")
def compiled(prefix):
    return compile_program(["gcc", "-std=c11"], SCENES, prefix)


def listed(daemon, what):
    """Its jobs or sessions, of the tenant that the program's user is."""
    return daemon.get(f"/v1/{what}", uid=daemon.user.uid if cells.IS_ROOT else None).json[what]


class Stage:
    """Plays scenes with a program: `place` is its first argument."""

    def __init__(self, user, place, program, prefix, binary=None):
        self.user, self.place, self.program, self.prefix = user, place, program, prefix
        self.binary = binary or prefix / "bin/hotcell"
        self.directory = cells.new_directory(user)
        self.wrapped = []

    def environment(self, **more):
        return {**self.user.environment(), "LD_LIBRARY_PATH": str(self.prefix / "lib"), "HOTCELL": str(self.binary), **more}

    def spec(self, code, **more):
        limits = {name.lstrip("-"): value for name, value in cells.BOUNDS.items()}
        return json.dumps({"code": code, "tree": self.tree, **more, "limits": {**limits, **more.get("limits", {})}})

    def session(self, **more):
        limits = {name.lstrip("-"): value for name, value in cells.BOUNDS.items()}
        return json.dumps({"tree": self.tree, "limits": limits, **more})

    @property
    def tree(self):
        return cells.tree_path("base") if self.place == "command" else "base"

    def begin(self, scene, *specs, env=None, **more):
        return subprocess.Popen([*self.wrapped, str(self.program), str(self.place), scene, *specs], cwd=self.directory, env=env or self.environment(),
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **self.user.popen_arguments(), **more)

    def end(self, process, said=None):
        try:
            out, err = process.communicate(said, timeout=cells.PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        err = re.sub(r"^--\d+-- .*\n", "", err, flags=re.M)  # valgrind's about system calls that it does not know
        assert (process.returncode, err) == (0, ""), (process.returncode, out[-2000:], err)
        return [json.loads(line) for line in out.split("\n") if line]

    def play(self, scene, *specs, **more):
        return self.end(self.begin(scene, *specs, **more))


@pytest.fixture(name="stage", params=["command", "daemon"])
def stages(request, user, program, prefix):
    if request.param == "command":
        yield Stage(user, "command", program, prefix)
        return
    with daemons.Daemon(user) as daemon:
        stage = Stage(user, daemon.socket, program, prefix)
        stage.daemon = daemon
        yield stage


def manifest_of(said):
    return json.loads(said["manifest"])


def test_each_end_of_a_program_is_a_result(stage):
    ok, error, late, rejected, left = stage.play(
        "run", stage.spec("import sys; print('hä\\u0000', 'x' * 100000); print('e', file=sys.stderr)\n{'a': [1, 2.50]}"), stage.spec("1 / 0"),
        stage.spec("while True: pass", limits={"timeout": "300ms"}), stage.spec("def"), stage.spec("open('a b#.txt', 'w').write('left')"))
    assert (ok["status"], ok["exit"], ok["reason"], ok["state"], ok["run"]) == ("ok", 0, "", "", 0)
    assert json.loads(ok["value"]) == {"a": [1, 2.5]} and ok["out_len"] == len(ok["stdout"].encode()) and ok["stderr"] == "e\n"
    assert ok["stdout"].startswith("hä") and manifest_of(ok)["stdout"]["bytes"] == 100006
    assert json.loads(ok["usage"])["wall"] > 0 and manifest_of(ok)["usage"] == json.loads(ok["usage"])
    assert (error["status"], error["exit"], error["value"]) == ("error", 1, None) and "ZeroDivisionError" in error["stderr"]
    assert (late["status"], late["exit"]) == ("timeout", 3) and late["reason"]
    assert (rejected["status"], rejected["exit"]) == ("rejected", 2)
    assert left["files"] == {"a b#.txt": {"bytes": 4, "read": 0, "mime": "", "content": "left", "error": ""}}, left["files"]


def test_what_cannot_run_is_an_error_with_its_status(stage):
    unknown, policy, value = stage.play("run", stage.spec("1", nope=1), stage.spec("1", policy="no-such-policy"), stage.spec("1", limits={"timeout": "never"}))
    assert unknown["exit"] == 65 and "nope" in unknown["error"] and "standard input" not in unknown["error"]
    assert policy["exit"] in (65, 78) and "no-such-policy" in policy["error"]
    assert value["exit"] == 65 and "never" in value["error"]


def test_the_parts_of_a_spec_are_what_they_were_given_as(stage):
    (stage.directory / "t.json").write_text("[1, 2, 3]")
    said, = stage.play("build", str(stage.directory / "t.json"))
    assert said["stdout"] == "['a b', ''] [1, 12345678901234567890] [1, 2, 3]\n", said
    assert json.loads(said["value"]) == [1, "é\n"]


def test_one_thread_waits_for_many_jobs_and_their_descriptors(stage):
    said = stage.play("poll", *(stage.spec(f"import time; time.sleep({n} / 20)\n{n}") for n in range(4)))
    assert sorted(each["value"] for each in said) == ["0", "1", "2", "3"]


def test_eight_threads_run_jobs_at_the_same_time(stage):
    said = stage.play("threads", *(stage.spec(f"print({n} ** 2)") for n in range(THREADS)))
    assert [each["stdout"] for each in said] == [f"{n ** 2}\n" for n in range(THREADS)]


def wait_for_start(stage):
    """The job has begun when its interpreter runs."""
    if stage.place == "command":
        cells.wait_until("the program runs", lambda: (stage.directory / "out" / "begun").exists())
    else:
        cells.wait_until("the program runs", lambda: any(job["state"] == "running" for job in listed(stage.daemon, "jobs")))


def endless(stage):
    """A program that shows that it has begun: in the output directory, where it is the caller's own."""
    if stage.place != "command":
        return stage.spec("while True: pass", limits={"timeout": "100s"})
    policy = stage.directory / "bound.json"
    policy.write_text(json.dumps({"extends": "default", "output": {"mode": "bind"}}))
    return stage.spec("open('begun', 'w')\nwhile True: pass", limits={"timeout": "100s"}, policy=str(policy), output_dir=str(stage.directory / "out"))


def test_a_job_is_cancelled(stage):
    process = stage.begin("cancel", endless(stage))
    wait_for_start(stage)
    said, = stage.end(process, "go\n")
    assert (said.get("status"), said["exit"]) == ("killed", 3), said


def test_a_job_that_is_freed_has_ended(stage):
    process = stage.begin("drop", endless(stage))
    wait_for_start(stage)
    assert stage.end(process, "go\n") == []
    if stage.place == "command":
        assert json.loads((stage.directory / "out" / "manifest.json").read_text())["status"] == "killed"
    else:
        assert [job["status"] for job in listed(stage.daemon, "jobs")] == ["killed"]


def test_a_job_that_is_cancelled_at_once_ends(stage):
    said, = stage.play("cancel_at_once", stage.spec("while True: pass", limits={"timeout": "100s"}))
    assert said["exit"] == 3, said


def test_a_session_keeps_its_state_and_undoes_a_run_that_is_killed(stage):
    first, failed, refused, crashed, third = stage.play(
        "session", stage.session(), json.dumps({"code": "x = 41\nopen('kept.txt', 'w').write('1')"}), json.dumps({"code": "x = 42; 1 / 0"}), json.dumps({"code": "x = 43", "nope": 1}),
        json.dumps({"code": "import os; x = 5; os._exit(3)"}), json.dumps({"code": "print(x + y)\nx", "vars": {"y": 1}}))
    assert (first["run"], first["state"], first["files"]["kept.txt"]["content"]) == (1, "kept", "1"), first
    assert (failed["status"], failed["exit"], failed["state"]) == ("error", 1, "kept")
    assert "status" not in refused and refused["exit"] == 65 and "nope" in refused["error"]
    assert (crashed["status"], crashed["state"]) == ("error", "rolled back to run 2")
    assert (third["value"], third["stdout"], third["run"]) == ("42", "43\n", 4), third


def test_a_session_that_cannot_begin_says_why(stage):
    said, = stage.play("session", stage.session(code="1"), json.dumps({"code": "1"}))
    assert said["exit"] == 65 and "'code' is for a run of a session" in said["error"], said


def test_a_run_is_interrupted_and_the_session_goes_on(stage):
    first, second = stage.play("interrupt", stage.session(), json.dumps({"code": "x = 1\nwhile True: pass", "limits": {"timeout": "9s"}}), json.dumps({"code": "x"}))
    assert first["status"] == "error" and "KeyboardInterrupt" in first["stderr"], first
    assert second["value"] == "1"


def test_a_session_is_freed_while_a_run_goes_on(stage):
    process = stage.begin("leave", stage.session(), json.dumps({"code": "while True: pass", "limits": {"timeout": "9s"}}))
    if stage.place != "command":
        cells.wait_until("the run goes on", lambda: any(s["state"] == "running" for s in listed(stage.daemon, "sessions")))
    assert stage.end(process, "go\n") == []
    if stage.place != "command":
        cells.wait_until("the session has ended", lambda: [s["state"] for s in listed(stage.daemon, "sessions")] == ["ended"])


# ---- what goes wrong ----

@pytest.fixture(name="command")
def a_command(user, program, prefix):
    return Stage(user, "command", program, prefix)


def test_wrong_arguments_are_errors(command):
    assert len(command.play("wrong")) == 16


def test_no_hotcell_is_an_error(user, program, prefix, tmp_path):
    stage = Stage(user, "command", program, prefix, binary="/no/such/hotcell")
    said, = stage.play("run", "{}")
    assert said["exit"] == 69 and "/no/such/hotcell ($HOTCELL) is not a program" in said["error"]
    env = stage.environment(PATH=str(tmp_path))
    del env["HOTCELL"]
    said, = stage.play("run", "{}", env=env)
    assert said["exit"] == 69 and "no hotcell command" in said["error"]
    env["PATH"] = f"/nonexistent:{prefix}/bin"
    said, = stage.play("run", stage.spec("6 * 7"), env=env)
    assert said["value"] == "42"


def test_a_command_that_is_something_else_is_an_error(command):
    for program, words in (("/bin/false", "ended with status 1"), ("/bin/cat", "manifest"), ("/bin/true", "without a result")):
        command.binary = program
        said, = command.play("run", command.spec("1"))
        assert said["exit"] in (1, 70) and (words in said["error"] or program == "/bin/cat"), said
        said, = command.play("session", "{}", json.dumps({"code": "1"}))
        assert said["exit"] in (1, 70), said


def test_no_daemon_is_an_error(user, program, prefix):
    stage = Stage(user, "/no/such/socket", program, prefix)
    for scene in ("run", "session"):
        said, = stage.play(scene, "{}")
        assert (said["exit"], said["sys"]) == (69, 2), said


@pytest.mark.parametrize("scene", ["lost", "session"])
def test_a_daemon_that_dies_in_the_middle_is_an_error(user, program, prefix, scene):
    with daemons.Daemon(user) as daemon:
        stage = Stage(user, daemon.socket, program, prefix)
        endless_run = json.dumps({"code": "while True: pass", "limits": {"timeout": "9s"}})
        process = stage.begin(scene, *([stage.session(), endless_run] if scene == "session" else [stage.spec("while True: pass", limits={"timeout": "100s"})]))
        what = "sessions" if scene == "session" else "jobs"
        cells.wait_until("it runs", lambda: any(each["state"] == "running" for each in listed(daemon, what)))
        daemon.end(signal.SIGKILL)
        said, = stage.end(process)
    assert said["exit"] == 70 and said["error"], said


def test_a_command_that_is_killed_is_an_error(command):
    process = command.begin("lost", endless(command))
    wait_for_start(command)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(int(children[0]), signal.SIGKILL)
    said, = command.end(process)
    assert said["exit"] == 70 and "status 137" in said["error"], said


def test_a_command_ends_when_its_caller_is_killed(command):
    process = command.begin("lost", endless(command))
    wait_for_start(command)
    process.kill()
    process.communicate()
    cells.wait_until("the cell has ended", (command.directory / "out" / "manifest.json").exists)
    assert json.loads((command.directory / "out" / "manifest.json").read_text())["status"] == "killed"


def test_a_caller_may_ignore_its_children(command):
    """Then nobody can learn their exit status, and the manifest says all the same."""
    command.wrapped = ["/bin/bash", "-c", 'trap "" CHLD PIPE; exec "$@"', "-"]
    said = command.play("lost", command.spec("6 * 7"))
    assert said[0]["value"] == "42"


def test_a_caller_may_have_closed_its_standard_descriptors(command):
    done = subprocess.run(["/bin/bash", "-c", 'exec "$@" 0<&- 2<&-', "-", str(command.program), "command", "run", command.spec("print(1)\n6 * 7")], cwd=command.directory,
                          env=command.environment(), stdout=subprocess.PIPE, text=True, check=False, timeout=cells.PATIENCE, **command.user.popen_arguments())
    assert json.loads(done.stdout)["value"] == "42"


# ---- how it is built ----

def test_only_names_of_the_library_are_seen(prefix):
    for library, option in (("libhotcell.so", ["-D"]), ("libhotcell.a", [])):
        names = subprocess.run(["nm", *option, "--defined-only", "--extern-only", prefix / "lib" / library], capture_output=True, text=True, check=True).stdout
        found = {line.split()[-1].partition("@")[0] for line in names.splitlines() if len(line.split()) == 3} - {"HOTCELL_0"}
        declared = set(re.findall(r"\b(hotcell_\w+)\(", (prefix / "include/hotcell.h").read_text()))
        assert found == declared
    dynamic = subprocess.run(["readelf", "-d", prefix / "lib/libhotcell.so"], capture_output=True, text=True, check=True).stdout
    assert "soname: [libhotcell.so.0]" in dynamic


def test_the_manual_names_each_function(prefix):
    page = (prefix / "share/man/man3/libhotcell.3").read_text()
    for name in re.findall(r"\b(hotcell_\w+)\(", (prefix / "include/hotcell.h").read_text()):
        assert f".Fn {name}" in page, name


@pytest.mark.parametrize("command, source_of", [(["g++", "-std=c++17", "-x", "c++"], "so"), (["gcc", "-std=gnu17"], "a"), (["clang", "-std=c17"], "so")])
def test_programs_in_c_and_c_plus_plus_have_it(prefix, base_tree, command, source_of):
    del base_tree
    if not shutil.which(command[0]):
        cells.skip(f"{command[0]} is not installed")
    libraries = None if source_of == "so" else [str(prefix / "lib/libhotcell.a"), *flags(prefix, "--static", "--libs")[2:]]
    program = compile_program(command, SCENES, prefix, *(["-x", "none"] if "-x" in command else []), libraries=libraries)
    stage = Stage(cells.caller(), "command", program, prefix)
    said, = stage.play("run", stage.spec("6 * 7"))
    assert said["value"] == "42"


def test_the_example_runs_programs(prefix, base_tree):
    del base_tree
    source = prefix / "share/doc/libhotcell-dev/examples/wrapper.c"
    program = compile_program(["gcc", "-std=c11"], source, prefix)
    stage = Stage(cells.caller(), "command", program, prefix)
    for n in range(6):
        (stage.directory / f"{n}.py").write_text(f"print({n} * 7)" if n else "1 / 0")
    done = subprocess.run([program, *(f"{n}.py" for n in range(6)), "none.py"], cwd=stage.directory, env=stage.environment(), capture_output=True, text=True, check=False, timeout=cells.PATIENCE)
    assert (done.returncode, done.stderr) == (1, ""), done
    for n in range(1, 6):
        assert f"{n}.py: ok \n{n * 7}\n" in done.stdout, done.stdout
    assert "0.py: error the program failed" in done.stdout and "none.py: not run: it cannot be read" in done.stdout


# ---- its memory ----

def play_some(stage):
    (stage.directory / "t.json").write_text("[1]")
    stage.play("run", stage.spec("open('f', 'w').write('1')\n1"), stage.spec("1 / 0"), stage.spec("1", nope=1))
    stage.play("wrong")
    stage.play("session", stage.session(), json.dumps({"code": "x = 1"}), json.dumps({"code": "2", "nope": 1}), json.dumps({"code": "x"}))
    stage.play("threads", *(stage.spec(str(n)) for n in range(THREADS)))
    stage.play("build", str(stage.directory / "t.json"))
    stage.play("cancel_at_once", stage.spec("while True: pass"))


def play_everywhere(program, prefix, wrapped):
    stage = Stage(cells.caller(), "command", program, prefix)
    stage.wrapped = wrapped
    play_some(stage)
    with daemons.Daemon(cells.caller()) as daemon:
        stage = Stage(cells.caller(), daemon.socket, program, prefix)
        stage.wrapped = wrapped
        play_some(stage)


@pytest.mark.long
def test_valgrind_finds_nothing(prefix, program, base_tree):
    del base_tree
    if not shutil.which("valgrind"):
        cells.skip("valgrind is not installed")
    play_everywhere(program, prefix, ["valgrind", "-q", "--error-exitcode=9", "--leak-check=full", "--show-leak-kinds=all", "--errors-for-leak-kinds=all", "--track-fds=no"])


@pytest.mark.long
@pytest.mark.parametrize("sanitizers", ["address,undefined", "thread"])
def test_sanitizers_find_nothing(prefix, base_tree, sanitizers):
    del base_tree
    ground = [SOURCES / "src" / name for name in ("wire/answer.c", "client/http.c", "client/listed.c")]
    sources = [*(path for room in ("lib", "base", "json") for path in (SOURCES / "src" / room).glob("*.c") if not re.search("-(test|fuzz).c$", path.name)), *ground]
    program = compile_program(["gcc", "-std=gnu17", "-O1", f"-fsanitize={sanitizers}", f"-I{SOURCES}/src", '-DHC_VERSION="test"', '-DHC_PYTHON_ABI="3.11"'], SCENES, prefix, *map(str, sources),
                              libraries=subprocess.run(["pkg-config", "--libs", "libcjson", "libsodium", "libpcre2-8"], capture_output=True, text=True, check=True).stdout.split())
    play_everywhere(program, prefix, [])
