"""Commands that go on beside the runs of a session: what a client does with them, and what none of them can."""

import base64
import json
import os
import re
import signal
import time

import cells
import pytest
import session_client

pytestmark = pytest.mark.usefixtures("shell_tree")


@pytest.fixture(autouse=True)
def bound_of_waiting():
    """An event that never comes fails the test that waits for it."""
    def fail(number, frame):
        raise TimeoutError("no event came")
    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(int(60 * cells.SLOWNESS))
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


class Session(session_client.Session):
    """A session under the policy shell. Events of commands are put aside while another answer is awaited."""

    def __init__(self, *options, user=None, **more):
        user = user or cells.caller()
        self.events = []
        super().__init__(*cells.watched(options, "shell", user), *options, tree="shell", policy="shell", user=user, **more)

    def answer(self):
        while "command" in (event := super().answer()) and event["event"] in ("stdout", "stderr", "cut", "exited"):
            self.events.append(event)
        return event

    def start(self, *command, id=None, **spec):
        self.ask({"start": {"command": command, **spec}} | ({"id": id} if id else {}))
        event = self.answer()
        assert event["event"] == "started" and event["pid"] > 1, event
        return event["command"]

    def refusal(self, request):
        self.ask(request)
        event = self.answer()
        assert event["event"] == "error", event
        return event["message"]

    def done(self, request):
        self.ask(request)
        event = self.answer()
        assert event["event"] == "done", event
        return event

    def input(self, command, text=None, **more):
        self.done({"command_input": {"id": command, **({} if text is None else {"text": text}), **more}})

    def signal(self, command, name):
        self.done({"command_signal": {"id": command, "signal": name}})

    def listed(self):
        return {one["command"]: one for one in self.done({"commands": True})["commands"]}

    def event(self):
        return self.events.pop(0) if self.events else session_client.Session.answer(self)

    def read(self, command, until, stream="stdout"):
        """What it prints from now on, up to a text; events of others are dropped."""
        text = ""
        while until not in text:
            event = self.event()
            assert event["event"] != "exited" or event["command"] != command, (text, event)
            if event["command"] == command and event["event"] == stream:
                text += event["text"]
        return text

    def wait(self, command):
        """Its last event, and what it has printed until then."""
        said = {"stdout": b"", "stderr": b""}
        while True:
            event = self.event()
            if event.get("command") != command:
                continue
            if event["event"] == "exited":
                return event, said["stdout"].decode(errors="replace"), said["stderr"].decode(errors="replace")
            if event["event"] in said:
                said[event["event"]] += event["text"].encode() if "text" in event else base64.b64decode(event["data"])


@pytest.fixture(name="session")
def open_session(user):
    with Session(user=user) as session:
        yield session


def is_gone(session, pid):
    """Whether a process of the cell has ended; its parent may take a moment to hear of it."""
    return session.execute("sh", "-c", f"while kill -0 {pid}; do :; done; echo gone").stdout == "gone\n"


# ---- what a client does with them ----

def test_a_command_goes_on_while_runs_and_commands_begin_and_end(session):
    server = session.start("sh", "-c", "while read line; do echo answer $line; done; echo over >&2; exit 7")
    assert server == "c1"
    session.run("x = 41")
    session.input(server, "one\n")
    assert session.read(server, "\n") == "answer one\n"
    assert session.execute("sh", "-c", "echo made > made").status == "ok"
    other = session.start("sh", "-c", "cat made; echo more >> made")
    assert session.wait(other)[1] == "made\n"
    assert session.run("x + open('made').read().count('more')").value == 42
    assert list(session.listed()) == [server] and session.listed()[server]["argv"][0] == "sh"
    session.input(server, "two\n", end=True)
    end, out, err = session.wait(server)
    assert (out, err, end["process"], end["status"]) == ("answer two\n", "over\n", {"exit": 7}, "error"), end
    assert end["reason"] == "the command failed with exit status 7" and end["stdout"] == {"bytes": 22, "truncated": False}, end
    assert session.listed() == {}


def test_a_run_and_a_command_talk_to_each_other(session):
    session.execute("mkfifo", "/tmp/asked", "/tmp/answered")
    session.start("sh", "-c", "read q < /tmp/asked; echo $((q + 1)) > /tmp/answered", id="adder")
    assert session.run("with open('/tmp/asked', 'w') as f: f.write('41\\n')\nint(open('/tmp/answered').read())").value == 42
    assert session.wait("adder")[0]["status"] == "ok"


def test_requests_about_commands_are_served_during_a_run(session):
    session.execute("mkfifo", "/tmp/go")
    session.ask({"run": {"command": ["sh", "-c", "echo begun > begun; read x < /tmp/go; echo $x"]}})
    waits = session.start("sh", "-c", "while ! test -e begun; do :; done; cat", id="during")
    assert list(session.listed()) == [waits]
    session.input(waits, "x", end=True)
    assert session.wait(waits)[1] == "x"
    last = session.start("sh", "-c", "echo released > /tmp/go")
    result = session.result()
    assert result.stdout == "released\n", result
    assert session.wait(last)[0]["status"] == "ok"


def test_signals_reach_the_process_group_and_kill_all_of_it(session):
    deaf = session.start("sh", "-c", "trap 'echo int' INT; trap 'echo term' TERM; echo ready; while :; do sleep 0.01; done")
    session.read(deaf, "ready")
    session.signal(deaf, "INT")
    session.read(deaf, "int")
    session.signal(deaf, "TERM")
    session.read(deaf, "term")
    session.signal(deaf, "KILL")
    end = session.wait(deaf)[0]
    assert (end["process"], end["status"], end["reason"]) == ({"signal": 9, "name": "SIGKILL"}, "killed", "was killed by its client"), end
    parent = session.start("sh", "-c", "sleep 999 & echo $!; wait; echo over")
    child = session.read(parent, "\n").strip()
    session.signal(parent, "TERM")  # both are in the group
    assert session.wait(parent)[0]["process"] == {"signal": 15, "name": "SIGTERM"}
    assert is_gone(session, child)


def test_bytes_and_characters_come_as_they_were(session):
    command = session.start("sh", "-c", r"printf '\303'; sleep 0.1; printf '\251\377\0'")
    text, data = "", b""
    while (event := session.event())["event"] != "exited":
        text += event.get("text", "")
        data += base64.b64decode(event.get("data", ""))
    assert (text, data) == ("é", b"\xff\0") and event["command"] == command, event
    echo = session.start("cat")
    session.done({"command_input": {"id": echo, "data": base64.b64encode(b"\xfe\n").decode(), "end": True}})
    assert session.wait(echo)[1].encode() == b"\xef\xbf\xbd\n"


def test_environment_and_directory_are_the_commands(session):
    assert session.execute("mkdir", "/tmp/inner").status == "ok"
    first = session.start("sh", "-c", "pwd; echo $LEVEL; echo $0 $PATH", env={"LEVEL": "debug"}, workdir="/tmp/inner")
    assert session.wait(first)[1] == "/tmp/inner\ndebug\nsh /usr/bin\n"
    second = session.start("sh", "-c", "pwd; echo [$LEVEL]")
    assert session.wait(second)[1] == "/output\n[]\n"
    missing = session.start("nothing-like-that")
    end, _, err = session.wait(missing)
    assert end["process"] == {"exit": 127} and "no such program" in err, end


@pytest.mark.parametrize("request_, says", [
    ({"start": {"code": "1"}}, "expected a command"),
    ({"start": {"command": ["true"], "stdin": "x"}}, "has command, env, workdir and limits"),
    ({"start": {"command": ["true"], "vars": {"x": 1}}}, ""),
    ({"start": {"command": []}}, "command"),
    ({"start": {"command": ["true"]}, "id": "a b"}, "id: expected"),
    ({"start": {"command": ["true"]}, "name": "x"}, "one member"),
    ({"start": {"command": ["true"], "limits": {"timeout": "never"}}}, "timeout"),
    ({"command_input": {"id": "c9", "text": "x"}}, "no command 'c9'"),
    ({"command_input": {"text": "x"}}, "id: expected"),
    ({"command_input": {"id": "c9", "text": "x", "data": "eA=="}}, "text, or data"),
    ({"command_input": {"id": "c9", "data": "?"}}, "base64"),
    ({"command_input": "x"}, "expected an object"),
    ({"command_signal": {"id": "c9", "signal": "TERM"}}, "no command 'c9'"),
    ({"command_signal": {"id": "c9", "signal": "SEGV"}}, "expected INT, TERM"),
    ({"command_signal": {"id": "c9", "signal": "TERM", "to": "all"}}, "no member 'to'"),
    ({"commands": 1}, "expected true"),
])
def test_bad_requests_are_refused_and_change_nothing(request_, says):
    with Session() as session:
        assert says in session.refusal(request_)
        assert session.run("1").value == 1


def test_a_policy_without_commands_has_none(base_tree):
    with session_client.Session() as session:
        session.ask({"start": {"command": ["true"]}})
        assert "commands.allow" in session.answer()["message"]
        session.ask({"commands": True})
        assert session.answer()["commands"] == []


def test_no_more_than_sixteen_at_a_time(session):
    started = [session.start("cat") for _ in range(16)]
    assert "16 commands go on" in session.refusal({"start": {"command": ["cat"]}})
    assert "goes on" in session.refusal({"start": {"command": ["cat"]}, "id": "c3"})
    session.input(started[0], end=True)
    assert session.wait(started[0])[0]["status"] == "ok"
    session.start("cat")


# ---- limits ----

def test_a_command_has_a_time_limit_if_it_asks_for_one(session):
    gentle = session.start("sh", "-c", "trap 'echo asked; exit 3' TERM; while :; do sleep 0.01; done", limits={"timeout": "300ms", "grace": "60s"})
    end, out, _ = session.wait(gentle)
    assert (end["status"], out, end["process"]) == ("timeout", "asked\n", {"exit": 3}) and "limits.timeout" in end["reason"], end
    deaf = session.start("sh", "-c", "trap '' TERM; while :; do sleep 0.01; done", limits={"timeout": "200ms", "grace": "100ms"})
    end = session.wait(deaf)[0]
    assert (end["status"], end["process"]) == ("timeout", {"signal": 9, "name": "SIGKILL"}), end


BUSY = "while :; do :; done"


def test_cpu_time_is_the_commands_and_no_runs(session):
    busy = session.start("sh", "-c", BUSY)
    run = session.run("import time\nend = time.monotonic() + 1\nwhile time.monotonic() < end: time.sleep(0.01)")
    assert run.status == "ok" and run.manifest["usage"]["cpu_user"] + run.manifest["usage"]["cpu_system"] < 0.5, run.manifest["usage"]
    session.signal(busy, "KILL")
    end = session.wait(busy)[0]
    assert end["cpu"] > 0.1, end
    limited = session.start("sh", "-c", f"({BUSY}) & wait", limits={"cpu": "300ms"})
    end = session.wait(limited)[0]
    assert end["status"] == "cpu" and end["cpu"] >= 0.25, end


def test_the_sessions_cpu_time_is_used_up_by_commands(user):
    with Session("--session-cpu=1s", user=user) as session:
        session.start("sh", "-c", BUSY)
        end = session.answer()
        assert (end["event"], end["reason"]) == ("end", "cpu"), end
    with Session("--session-cpu=1s", user=user) as session:  # and by what they put into the background
        session.start("sh", "-c", f"(sh -c '{BUSY}' &); cat")
        end = session.answer()
        assert (end["event"], end["reason"]) == ("end", "cpu"), end


def test_the_sessions_life_ends_its_commands_and_a_command_keeps_it_from_being_idle(user):
    with Session("--session-idle=1s", "--session-life=3s", user=user) as session:
        begun = time.monotonic()
        session.start("sleep", "99")
        end = session.answer()
        assert (end["event"], end["reason"]) == ("end", "life") and time.monotonic() - begun > 2, end
        (last,) = session.events
        assert (last["event"], last["status"], last["reason"]) == ("exited", "killed", "the session has ended"), last
    with Session("--session-idle=1s", user=user) as session:
        assert session.wait(session.start("true"))[0]["status"] == "ok"
        assert session.answer()["reason"] == "idle"


def test_output_beyond_its_limit_is_dropped_or_ends_the_command(user):
    flood = ["sh", "-c", "yes | head -c 3000000; echo flooded >&2"]
    with Session(user=user) as session:
        end, out, err = session.wait(session.start(*flood, limits={"stdout": 1000}))
        assert (len(out), err, end["status"]) == (1000, "flooded\n", "ok"), end
        assert end["stdout"] == {"bytes": 3000000, "truncated": True}, end
    with Session("--overflow=end", user=user) as session:
        end, out, _ = session.wait(session.start(*flood, limits={"stdout": 1000}))
        assert (end["status"], len(out)) == ("output", 1000) and "limits.stdout" in end["reason"], end


def test_what_it_prints_is_redacted(tmp_path):
    policy = tmp_path / "secret.json"
    policy.write_text(json.dumps(cells.watched_policy({"extends": "shell", "redact": {"rules": [{"name": "key", "pattern": "sk-[0-9]+", "replace": "[key]"}]}},
                                                      cells.caller())))
    with session_client.Session(tree="shell", policy=policy) as session:
        session.ask({"start": {"command": ["sh", "-c", "printf sk-12; sleep 0.1; echo 34"]}})
        text = ""
        while (event := session.answer())["event"] != "exited":
            text += event.get("text", "")
        assert text == "[key]\n", event


# ---- hostile commands ----

def test_a_flood_without_a_reader_is_bounded_and_runs_go_on(user):
    with Session("--stdout-size=64M", user=user) as session:
        session.ask({"start": {"command": ["yes"]}, "id": "flood"})
        session.ask({"start": {"command": ["sh", "-c", "yes >&2"]}, "id": "more"})
        session.ask({"run": {"code": "import time\ntime.sleep(1)\n'ran'"}})
        pid = session.process.pid
        cells.wait_until("the launcher's memory", lambda: memory_of(pid) > 0)
        grown = max(memory_of(pid) for _ in range(200) if not time.sleep(0.01))
        assert grown < 160 << 20, grown  # twice 8 MiB of events, and what is read at once
        while (event := session.answer())["event"] == "started":
            pass
        assert event["manifest"]["guest"]["value"]["application/json"] == "ran", event
        session.signal("flood", "KILL")
        session.signal("more", "KILL")


def memory_of(pid):
    """Resident memory of the launcher, in bytes: it runs as the user whose process is known by its parent."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) << 10


BOMB = "import os, time\nwhile True:\n try:\n  if os.fork() == 0: time.sleep(999)\n except OSError: time.sleep(0.01)"


def test_a_fork_bomb_is_bounded_by_the_cell_and_killed_whole(user):
    with Session("--pids=64", user=user) as session:
        session.run("x = 1")
        bomb = session.start("python3", "-c", BOMB)
        cells.wait_until("the cell to be full", lambda: "checkpoint" in json.dumps(session.run("1").manifest["rejection"]) or None)
        session.signal(bomb, "KILL")
        assert session.wait(bomb)[0]["status"] == "killed"
        run = session.run("x")
        assert run.value == 1, run


def test_processes_that_end_while_they_are_looked_at_end_no_session(user):
    restless = "import os\nwhile True:\n if os.fork():\n  os._exit(0)"
    with Session("--pids=64", user=user) as session:
        session.run("x = 1")
        for _ in range(3):
            chain = session.start("python3", "-c", restless)
            assert session.wait(chain)[0]["process"] == {"exit": 0}
        run = session.run("x")
        assert run.value == 1 or run.state == "lost", run


def test_what_a_command_leaves_behind_is_killed_and_other_commands_are_not(session):
    kept = session.start("sh", "-c", "sleep 999 & cat; wait")
    left = session.start("sh", "-c", "sleep 998 & echo $!; exit 0")
    end, pid, _ = session.wait(left)
    assert end["status"] == "ok", end
    assert is_gone(session, pid.strip())
    run = session.run("import os, time\nif os.fork() == 0:\n time.sleep(997)\n'forked'")
    assert run.value == "forked" and run.state == "kept", run
    assert list(session.listed()) == [kept]


# The end of the child that is killed after the run leaves the program's process group an orphan, with a stopped process.
ORPHANING = """
import os, signal, time
signal.signal(signal.SIGHUP, signal.SIG_IGN)
ours = os.getpgid(0)
ready, told = os.pipe()
if os.fork() == 0:
    os.setpgid(0, 0)
    if os.fork() == 0:
        os.setpgid(0, ours)
        os.write(told, b"x")
    time.sleep(996)
    os._exit(1)
os.read(ready, 1)
x += 1
"""


def test_what_waits_gets_no_signal_of_the_programs_group(session):
    """To an orphaned group the kernel sends SIGHUP, which ended what checks programs, and SIGCONT."""
    session.run("x = 1")
    session.done({"checkpoint": "start"})
    for number in (2, 3, 4):
        run = session.run(ORPHANING + "x")
        assert (run.value, run.state) == (number, "kept"), run
    session.done({"rollback": "start"})
    assert session.run("x").value == 1


@pytest.mark.machine
def test_memory_is_the_cells_and_the_largest_ends(user):
    hog = "import time\nheld = []\nwhile True:\n held.append(b'x' * (4 << 20))\n time.sleep(0.005)"
    with Session("--memory=256M", user=user) as session:
        session.run("x = 1")
        end = session.wait(session.start("python3", "-c", hog))[0]
        assert end["status"] == "memory" and "limits.memory" in end["reason"], end
        small = session.start("cat")
        command = session.start("python3", "-c", "import time\ntime.sleep(0.5)\n" + hog)
        run = session.run("import time\ntime.sleep(4)\n'kept'")
        assert run.status == "ok" and run.value == "kept", run
        assert session.wait(command)[0]["status"] == "memory"
        greedy = session.run("held = b'x' * (400 << 20)")
        assert greedy.status in ("memory", "error") and session.run("x").value == 1, greedy
        assert list(session.listed()) == [small]


def test_a_command_that_kills_all_processes_ends_the_session(user):
    with Session(user=user) as session:
        session.run("x = 1")
        killer = session.start("sh", "-c", "kill -9 -1; echo alone")
        assert session.wait(killer)[1] == "alone\n"
        assert "was killed by a program" in session.refusal({"start": {"command": ["true"]}})
        lost = session.run("x")
        assert lost.state == "lost", lost
        assert session.answer()["reason"] == "lost"


def test_a_command_that_only_stops_what_starts_commands_stops_no_runs(user):
    with Session(user=user) as session:
        session.run("x = 1")
        # The interpreter is 2, and the starter its copy's child: it is one of the first processes.
        starter = next(pid for pid, name in below(session.process.pid).items() if name == "hotcell-start")
        assert session.wait(session.start("sh", "-c", f"kill -9 {inner(starter)}"))[0]["process"]
        assert "was killed by a program" in session.refusal({"start": {"command": ["true"]}})
        assert session.run("x").value == 1 and session.execute("echo", "on").stdout == "on\n"


CHANNELS = """
import errno, os
for fd in range(3, 256):
    try: os.fstat(fd)
    except OSError: continue
    print("has", fd)
for pid in range(1, 40):
    if pid == os.getpid(): continue
    try: os.kill(pid, 0)
    except OSError: continue
    for path in ("fd/1", "fd/3", "mem"):
        try: os.open(f"/proc/{pid}/{path}", os.O_WRONLY)
        except OSError: continue
        print("opened", pid, path)
    try: os.pidfd_open(pid)
    except OSError: continue
    print("pidfd", pid)
print("tried")
"""


def test_a_command_has_no_channel_but_its_own(user):
    """Without /proc there is no way to the pipes of another, nor to the socket of the process that starts commands."""
    with Session(user=user) as session:
        session.run("x = 1")
        neighbour = session.start("cat")
        end, out, _ = session.wait(session.start("python3", "-c", CHANNELS))
        assert end["status"] == "ok" and out.splitlines()[-1] == "tried", (end, out)
        assert not [line for line in out.splitlines() if line.startswith(("has", "opened"))], out
        session.input(neighbour, "mine", end=True)
        assert session.wait(neighbour)[1] == "mine"
        assert session.run("x").value == 1


def test_denials_of_a_command_are_told_and_it_does_not_wait_for_a_run(session):
    tried = session.start("python3", "-c", "import os\ntry:\n os.unshare(0x10000000) if hasattr(os, 'unshare') else __import__('ctypes').CDLL(None).unshare(1 << 28)"
                                          "\nexcept OSError as e: print(e)\nprint('after')")
    assert "after" in session.wait(tried)[1]
    session.ask({"close": True})
    end = session.answer()
    assert end["event"] == "end" and "unshare" in json.dumps(end["manifest"]["denials"]), end["manifest"]["denials"]


def test_the_same_layers_are_on_as_for_a_commands_run(session):
    held = session.start("sh", "-c", "echo up; cat")
    session.read(held, "up")
    session.execute("mkfifo", "/tmp/go")
    session.ask({"run": {"command": ["sh", "-c", "read x < /tmp/go"]}})
    cells.wait_until("the run's command", lambda: list(below(session.process.pid).values()).count("sh") == 2)
    facts = [layers_of(pid) for pid, name in below(session.process.pid).items() if name == "sh"]
    assert facts[0] == facts[1] and ("Seccomp", "2") in facts[0] and ("NoNewPrivs", "1") in facts[0], facts
    session.start("sh", "-c", "echo > /tmp/go")
    assert session.result().status == "ok"


def test_the_end_of_the_launcher_ends_them(user):
    with Session(user=user) as session:
        session.start("sh", "-c", "trap '' TERM HUP INT; echo up; while :; do sleep 0.01; done", id="deaf")
        session.read("deaf", "up")
        found = below(session.process.pid)
        assert len(found) > 3, found
        session.process.kill()
        session.process.wait()
        cells.wait_until("the end of all processes", lambda: not [pid for pid in found if alive(pid)])


def field(pid, name):
    with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as status:
        return re.search(rf"^{name}:\s+(.*)$", status.read(), re.MULTILINE).group(1)


def below(pid):
    """All processes that descend from this one, with their names."""
    found = {}
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as children:
                for child in map(int, children.read().split()):
                    found |= {child: field(child, "Name"), **below(child)}
    except OSError:
        pass  # it has ended
    return found


def inner(pid):
    return field(pid, "NSpid").split()[-1]


def layers_of(pid):
    return [(name, field(pid, name)) for name in ("Seccomp", "Seccomp_filters", "NoNewPrivs", "CapEff", "CapPrm", "CapBnd", "Uid")]


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# ---- state ----

def test_a_killed_run_a_rollback_and_branches_leave_commands_alone(session):
    server = session.start("cat")
    session.run("x = 1")
    session.done({"checkpoint": "one"})
    died = session.run("x = 2\nimport os\nos._exit(1)")
    assert died.state == "rolled back to run 1", died
    session.run("x = 3")
    session.done({"rollback": "one"})
    assert session.run("x").value == 1
    session.ask({"branch": [{"code": "x = 5"}, {"code": "x = 6"}]})
    assert [session.answer()["event"] for _ in range(3)] == ["result", "result", "done"]
    session.input(server, "still\n")
    assert session.read(server, "\n") == "still\n"
    session.done({"keep": 2})
    assert session.run("x").value == 6
    session.input(server, end=True)
    assert session.wait(server)[0]["status"] == "ok"
