"""Contexts of a session: interpreters side by side in one cell, which share files and no names."""

import os
import select
import signal

import pytest

import cells
import session_client

pytestmark = pytest.mark.usefixtures("base_tree")


@pytest.fixture(name="session")
def session_of_the_test():
    with session_client.Session() as session:
        yield session


def asked(session, request):
    session.ask(request)
    return session.answer()


def done(session, request):
    answer = asked(session, request)
    assert (answer["event"], answer.get("request")) == ("done", next(iter(request))), answer
    return answer


def new(session, name, **what):
    answer = done(session, {"new_context": {"name": name, **what}})
    assert answer["context"] == name, answer
    return answer


def refused(session, request):
    answer = asked(session, request)
    assert answer["event"] == "error", answer
    return answer


def run_in(session, name, code, **spec):
    run = session.run(code, context=name, **spec)
    assert run.manifest["context"] == name
    return run


def names(session):
    return [one["name"] for one in done(session, {"contexts": True})["contexts"]]


def test_names_are_a_contexts_own_and_files_are_the_sessions(session):
    session.run("import os, sys\nx = 1\nos.environ['MINE'] = '1'\nsys.modules['one'] = os\nopen('f', 'w').write('first')")
    assert new(session, "b")["state"] == "that of the start"
    seen = run_in(session, "b", "import os, sys\n['x' in globals(), os.environ.get('MINE'), 'one' in sys.modules, open('f').read()]")
    assert seen.value == [False, None, False, "first"], seen
    run_in(session, "b", "x = 2\nopen('f', 'w').write('of b')")
    assert run_in(session, "main", "[x, open('f').read()]").value == [1, "of b"]
    assert run_in(session, "b", "x").value == 2
    plain = session.run("x")  # a run that names none is in the first
    assert (plain.value, plain.manifest["context"]) == (1, "main")


def end_of(pid):
    """Somebody on the host kills it; returns when it has ended."""
    ended = os.pidfd_open(pid)
    os.kill(pid, signal.SIGKILL)
    assert select.select([ended], [], [], cells.PATIENCE)[0]
    os.close(ended)


def test_a_checkpoint_whose_process_is_gone_is_refused_and_the_state_stays(session):
    session.run("x = 1")
    before = set(cells.descendants(session.process.pid))
    done(session, {"checkpoint": "p"})
    made, = set(cells.descendants(session.process.pid)) - before
    session.run("x = 2")
    end_of(made)
    assert "the process of the checkpoint 'p' has ended, and its state is gone" in refused(session, {"rollback": "p"})["message"]
    assert session.run("x").value == 2
    assert "there is no checkpoint 'p'" in refused(session, {"rollback": "p"})["message"]


def test_a_restart_without_the_interpreter_of_the_start_is_refused_and_the_state_stays(session):
    session.run("import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()")
    session.run("x = 2")
    first, *others = cells.descendants(session.process.pid)
    own = session_client.one_with_threads(session, 2)
    for pid in others:
        if pid not in (first, own):
            end_of(pid)
    assert "no copy is left of the interpreter as it was at the start" in refused(session, {"restart_context": "main"})["message"]
    assert names(session) == ["main"]


def test_a_restart_has_room_where_processes_are_few():
    """The interpreter that it ends counts no more when the new one is copied, however much memory it has to give back."""
    with session_client.Session("--pids", "7", "--memory", "300M") as session:
        session.run("big = bytearray(100 << 20)")
        for name in ("a", "b", "c"):
            new(session, name)
        for _ in range(5):
            run_in(session, "main", "big = bytearray(100 << 20)")
            done(session, {"restart_context": "main"})
        assert names(session) == ["main", "a", "b", "c"]
        assert all(run_in(session, name, "1").state != "lost" for name in names(session))


def test_a_session_that_ran_nothing_and_one_whose_first_run_failed_have_them(session):
    assert done(session, {"new_context": {}})["context"] == "context-1"
    assert run_in(session, "context-1", "import os\nos._exit(1)").state == "rolled back to the start"
    new(session, "context-2")
    assert done(session, {"new_context": {}})["context"] == "context-3"  # a name that is taken is passed over
    assert names(session) == ["main", "context-1", "context-2", "context-3"]
    assert [run_in(session, name, "'os' in globals()").value for name in names(session)] == [False] * 4


def test_each_goes_on_where_it_was_also_after_runs_that_fail(session):
    new(session, "b")
    run_in(session, "b", "import threading, time\nticks = 0\ndef tick():\n    global ticks\n    while True:\n        ticks += 1\n        time.sleep(0.005)\n"
                         "threading.Thread(target=tick, daemon=True).start()\nkept = 7")
    assert run_in(session, "main", "import os\ny = 1\nos._exit(3)").state == "rolled back to the start"
    assert run_in(session, "main", "while True: pass", limits={"timeout": "1s"}).status == "timeout"
    assert run_in(session, "b", "before = ticks\nwhile ticks < before + 3: time.sleep(0.005)\nkept").value == 7  # its threads have lived on
    assert run_in(session, "b", "kept = 8\nos = __import__('os')\nos.abort()").state == "rolled back to run 4"
    assert run_in(session, "b", "kept").value == 7
    assert run_in(session, "main", "'y' in globals()").value is False


def test_one_can_be_restarted_and_ended(session):
    session.run("x = 1")
    for name in ("b", "c"):
        new(session, name)
        run_in(session, name, f"x = '{name}'")
    done(session, {"restart_context": "b"})
    assert run_in(session, "b", "'x' in globals()").value is False
    assert done(session, {"restart_context": "main"})["state"] == "that of the start"
    assert run_in(session, "main", "'x' in globals()").value is False and run_in(session, "c", "x").value == "c"
    assert [one["name"] for one in done(session, {"end_context": "c"})["contexts"]] == ["main", "b"]  # it was used last
    assert session.run("'x' in globals()").value is False
    done(session, {"end_context": "b"})
    new(session, "b")
    assert run_in(session, "b", "'x' in globals()").value is False
    assert "ends with the session" in refused(session, {"end_context": "main"})["message"]
    assert session.run("1").value == 1


@pytest.mark.parametrize("request_of", [
    lambda: {"run": {"code": "1", "context": "b"}}, lambda: {"end_context": "b"}, lambda: {"restart_context": "b"},
    lambda: {"branch": [{"code": "1", "context": "b"}]}, lambda: {"checkpoint": {"name": "p", "context": "b"}},
    lambda: {"rollback": {"name": "p", "context": "b"}}], ids=["run", "end", "restart", "branch", "checkpoint", "rollback"])
def test_a_context_that_is_not_there_is_named_in_one_line(session, request_of):
    answer = refused(session, request_of())
    assert answer["message"] == "there is no context 'b'" and (answer["errno"], answer["missing"]) == ("ENOENT", "context"), answer
    assert session.run("1").number == 1  # nothing ran


def test_what_is_no_context_is_refused(session):
    for request, words in (({"new_context": {"name": "b", "from": "nothing"}}, "no checkpoint 'nothing'"),
                           ({"new_context": {"name": "x/y"}}, "x/y"), ({"new_context": "b"}, "expected an object"),
                           ({"new_context": {"names": "b"}}, "unknown member 'names'"), ({"new_context": {"name": 5}}, "expected a string"),
                           ({"new_context": {"workdir": "d"}}, "absolute"), ({"restart_context": True}, "expected a string"),
                           ({"new_context": {"name": "main"}}, "already"), ({"contexts": False}, "expected true"),
                           ({"checkpoint": {"name": "p", "from": "b"}}, "unknown member 'from'"),
                           ({"run": {"code": "1", "context": "x/y"}}, "context"), ({"run": {"code": "1", "context": 5}}, "context")):
        assert words in refused(session, request)["message"], request
    assert names(session) == ["main"] and session.run("1").number == 1


def test_the_ninth_is_refused(session):
    for number in range(7):
        new(session, f"n{number}")
    assert "at most 8 contexts" in refused(session, {"new_context": {"name": "more"}})["message"]
    done(session, {"checkpoint": "one"})
    assert "8 checkpoints and contexts at rest" in refused(session, {"checkpoint": "two"})["message"]
    assert [run_in(session, name, "5").value for name in names(session)] == [5] * 8
    done(session, {"end_context": "n0"})
    new(session, "more", **{"from": "one"})


def test_checkpoints_and_branches_are_of_the_context_that_is_named(session):
    session.run("x = 'main'")
    new(session, "b")
    run_in(session, "b", "x = 'b'")
    done(session, {"checkpoint": {"name": "of-b", "context": "b"}})
    done(session, {"checkpoint": "of-main"})
    new(session, "c", **{"from": "of-b"})
    assert run_in(session, "c", "x").value == "b"
    run_in(session, "b", "x = 'changed'")
    done(session, {"rollback": {"name": "of-b", "context": "b"}})
    assert run_in(session, "b", "x").value == "b" and session.run("x").value == "main"
    done(session, {"rollback": {"name": "of-main", "context": "c"}})  # another's state may be copied
    assert run_in(session, "c", "x").value == "main"
    session.ask({"branch": [{"code": "x += '1'", "context": "b"}, {"code": "x += '2'", "context": "b"}, {"code": "x"}]})
    assert [session.result().manifest["context"] for _ in range(2)] == ["b", "b"]
    assert "all branches are of one context, here 'b'" in session.answer()["message"]
    assert session.answer()["event"] == "done"
    assert "branches are open" in refused(session, {"new_context": {}})["message"]
    done(session, {"keep": 2})
    assert run_in(session, "b", "x").value == "b2" and session.run("x").value == "main"


def test_one_begins_in_the_directory_that_is_asked_for(session):
    session.run("import os\nos.mkdir('d')\nos.chdir('/tmp')")
    assert new(session, "b", workdir="/output/d")["contexts"][1] == {"name": "b", "workdir": "/output/d"}
    new(session, "t", workdir="/tmp")
    new(session, "c")
    here = "import os\nos.getcwd()"
    assert [run_in(session, name, here).value for name in ("b", "t", "c", "main")] == ["/output/d", "/tmp", "/output", "/tmp"]
    run_in(session, "b", "os.chdir('/')\nx = 1")
    done(session, {"checkpoint": {"name": "p", "context": "b"}})
    done(session, {"restart_context": "b"})
    assert run_in(session, "b", here).value == "/output/d"
    new(session, "e", **{"from": "p"})
    new(session, "g", **{"from": "p", "workdir": "/output/d"})
    assert [run_in(session, name, "[os.getcwd(), x]").value for name in ("e", "g")] == [["/", 1], ["/output/d", 1]]
    for bad in ("/output/nothing", "/proc/1/cwd/../x", "/etc/passwd"):
        assert "can enter" in refused(session, {"new_context": {"name": "h", "workdir": bad}})["message"]
    assert names(session) == ["main", "b", "t", "c", "e", "g"]
    new(session, "h")  # a refusal has cost nothing
    assert run_in(session, "h", here).value == "/output"


def test_what_comes_with_a_run_comes_into_its_context(session):
    new(session, "b")
    run = run_in(session, "b", "import sys\n[n, table, sys.stdin.read(), open('table.json').read()]", vars={"n": 5},
                 inputs={"table:raw": {"file": "table.json", "text": "[1]"}}, stdin="in", **{"return": ["n"]})
    assert run.value == [5, "/output/table.json", "in", "[1]"] and run.manifest["guest"]["returned"]["n"] is not None
    assert session.run("import os\n['n' in globals(), 'table' in globals(), os.listdir()]").value == [False, False, ["table.json"]]


def test_an_interrupt_reaches_the_run_of_a_context():
    with session_client.Session() as session:
        new(session, "b")
        session.ask({"stream": True})
        assert session.answer()["event"] == "done"
        session.ask({"run": {"code": "print('here', flush=True)\nwhile True: pass", "context": "b"}})
        assert session.answer()["event"] == "stdout"
        session.ask({"interrupt": True})
        while (answer := session.answer())["event"] != "result":
            pass
        assert answer["manifest"]["guest"]["error"]["type"] == "KeyboardInterrupt" and answer["state"] == "kept"


def test_without_room_for_one_more_all_is_as_before():
    with session_client.Session("--pids=7") as session:
        session.run("x = 1")
        made = []
        while (answer := asked(session, {"new_context": {"name": f"c{len(made)}"}}))["event"] == "done":
            made.append(answer)
        assert "no room" in answer["message"] and made, answer
        assert len(names(session)) == 1 + len(made)
        done(session, {"end_context": "c0"})
        assert session.run("x").value == 1
        new(session, "again")
        done(session, {"end_context": "again"})
        assert session.run("x").value == 1


def test_the_manifest_of_the_session_says_which_run_was_in_which(session):
    new(session, "b")
    run_in(session, "b", "1")
    session.run("2")
    session.ask({"close": True})
    assert [run["context"] for run in session.answer()["manifest"]["runs"]] == ["b", "main"]
