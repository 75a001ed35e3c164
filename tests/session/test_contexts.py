"""Contexts of a session: interpreters side by side in one cell, which share files and no names."""

import pytest

import session_client

pytestmark = pytest.mark.usefixtures("base_tree")


@pytest.fixture(name="session")
def session_with_a_start():
    with session_client.Session() as session:
        assert asked(session, {"checkpoint": "start"})["event"] == "done"
        yield session


def asked(session, request):
    session.ask(request)
    return session.answer()


def done(session, name, **what):
    answer = asked(session, {"context": {"name": name, **what}})
    assert (answer["event"], answer.get("request")) == ("done", "context"), answer
    return answer


def refused(session, name, **what):
    answer = asked(session, {"context": {"name": name, **what}})
    assert answer["event"] == "error", answer
    return answer


def run_in(session, name, code, **spec):
    session.ask({"context": {"name": name, "run": {"code": code, **spec}}})
    return session.result()


def test_names_are_a_contexts_own_and_files_are_the_sessions(session):
    session.run("import os, sys\nx = 1\nos.environ['MINE'] = '1'\nsys.modules['one'] = os\nopen('f', 'w').write('first')")
    assert done(session, "b", **{"from": "start"})["state"] == "that of the start"
    seen = run_in(session, "b", "import os, sys\n['x' in globals(), os.environ.get('MINE'), 'one' in sys.modules, open('f').read()]")
    assert seen.value == [False, None, False, "first"], seen
    run_in(session, "b", "x = 2\nopen('f', 'w').write('of b')")
    assert run_in(session, "", "[x, open('f').read()]").value == [1, "of b"]
    assert session.run("x").value == 1  # the context that was entered last
    assert run_in(session, "b", "x").value == 2 and session.run("x").value == 2


def test_each_goes_on_where_it_was_also_after_runs_that_fail(session):
    done(session, "b", **{"from": "start"})
    run_in(session, "b", "import threading, time\nticks = 0\ndef tick():\n    global ticks\n    while True:\n        ticks += 1\n        time.sleep(0.005)\n"
                         "threading.Thread(target=tick, daemon=True).start()\nkept = 7")
    assert run_in(session, "", "import os\ny = 1\nos._exit(3)").state == "rolled back to the start"
    assert run_in(session, "", "while True: pass", limits={"timeout": "1s"}).status == "timeout"
    assert run_in(session, "b", "before = ticks\nwhile ticks < before + 3: time.sleep(0.005)\nkept").value == 7  # its threads have lived on
    assert run_in(session, "b", "kept = 8\nos = __import__('os')\nos.abort()").state == "rolled back to run 4"
    assert run_in(session, "b", "kept").value == 7
    assert run_in(session, "", "'y' in globals()").value is False


def test_one_can_be_begun_anew_and_ended(session):
    session.run("x = 1")
    for name in ("b", "c"):
        done(session, name, **{"from": "start"})
        run_in(session, name, f"x = '{name}'")
    done(session, "b", rollback="start")
    assert run_in(session, "b", "'x' in globals()").value is False
    done(session, "", rollback="start")
    assert run_in(session, "", "'x' in globals()").value is False and run_in(session, "c", "x").value == "c"
    done(session, "c", end=True)  # the one that is active, and one that is not
    assert session.run("'x' in globals()").value is False
    done(session, "b", end=True)
    for name in ("b", "c"):
        answer = refused(session, name, run={"code": "1"})
        assert answer["message"] == f"there is no context '{name}'" and answer["errno"] == "ENOENT", answer
    done(session, "b", **{"from": "start"})
    assert "ends with the session" in refused(session, "", end=True)["message"]


def test_what_is_no_context_is_refused(session):
    for what, words in (({"from": "nothing"}, "no checkpoint 'nothing'"), ({"rollback": "start"}, "no context 'x/y'"),
                        ({"from": "start"}, "x/y"), ({}, "expected a name"),
                        ({"end": False}, "expected a name"), ({"end": True, "rollback": "start"}, "expected a name"), ({"run": 5}, "no context")):
        name = "x/y" if words != "no checkpoint 'nothing'" else "x"
        assert words in refused(session, name, **what)["message"], (what, words)
    done(session, "b", **{"from": "start"})
    assert "already" in refused(session, "b", **{"from": "start"})["message"]
    assert "no checkpoint 'b'" in asked(session, {"rollback": "b"})["message"]  # a context is no checkpoint
    for number in range(6):
        done(session, f"n{number}", **{"from": "start"})
    assert "8 checkpoints and contexts already" in refused(session, "more", **{"from": "start"})["message"]
    assert "8 checkpoints and contexts already" in asked(session, {"checkpoint": "more"})["message"]
    assert run_in(session, "n5", "5").value == run_in(session, "", "5").value == 5


def test_without_room_for_one_more_all_is_as_before():
    with session_client.Session("--pids=7") as session:
        assert asked(session, {"checkpoint": "start"})["event"] == "done"
        session.run("x = 1")
        made = []
        while (answer := asked(session, {"context": {"name": f"c{len(made)}", "from": "start"}}))["event"] == "done":
            made.append(answer)
        assert "no room" in answer["message"] and made, answer
        done(session, "c0", end=True)
        assert run_in(session, "", "x").value == 1
        done(session, "again", **{"from": "start"})  # the checkpoint is there
        done(session, "again", end=True)
        assert run_in(session, "", "x").value == 1
