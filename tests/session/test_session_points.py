"""Checkpoints and branches of a session: what comes back, and what does not."""

import session_client
from live_sessions import (answers_of_branches, done, fixture_bare, fixture_session, refused)  # pylint: disable=unused-import


def test_a_checkpoint_can_be_gone_back_to_again_and_again(session):
    session.run("x = 1")
    assert done(session, {"checkpoint": "one"})["state"] == "that of run 1"
    for _ in range(2):
        session.run("x = 2; y = 3")
        assert done(session, {"rollback": "one"}) == {"event": "done", "request": "rollback", "state": "that of run 1"}
        assert session.run("[x, 'y' in globals()]").value == [1, False]
    session.run("x = 5")
    done(session, {"checkpoint": "one"})
    session.run("x = 6; import os; os._exit(1)")
    session.run("x = 7")
    done(session, {"rollback": "one"})
    assert session.run("x").value == 5


def test_checkpoints_that_cannot_be(session):
    session.run("x = 1")
    assert "there is no checkpoint 'two'" in refused(session, {"rollback": "two"})
    assert "checkpoint: expected a string, got a number" in refused(session, {"checkpoint": 1})
    refused(session, {"checkpoint": "a/b"})
    for number in range(8):
        done(session, {"checkpoint": f"c{number}"})
    assert "there are 8 checkpoints and contexts at rest already" in refused(session, {"checkpoint": "c8"})
    done(session, {"checkpoint": "c7"})
    assert session.run("x").value == 1


def test_of_branches_one_is_kept(session):
    session.run("x = 1")
    session.ask({"branch": [{"code": "x += 1"}, {"code": "x += 10; import os; os._exit(1)"}, {"code": "x += 100; x"}]})
    results = [session.answer() for _ in range(3)]
    assert [(r["branch"], r["state"]) for r in results] == [(1, "kept"), (2, "rolled back to run 1"), (3, "kept")]
    assert session.answer()["event"] == "done"
    assert "branches are open" in refused(session, {"run": {"code": "1"}})
    assert "keep: expected the number of a branch" in refused(session, {"keep": "first"})
    assert done(session, {"keep": 1})["state"] == "that of run 2"
    assert session.run("x").value == 2
    session.ask({"branch": [{"code": "x = 50"}]})
    session.result()
    session.answer()
    assert done(session, {"keep": 0})["state"] == "that of run 5"
    assert session.run("x").value == 2
    assert "there are no branches" in refused(session, {"keep": 1})


def test_what_is_outside_of_the_process_is_not_taken_back(bare):
    """Files, and what processes share of those that are open; a database, if it is one of the memory, is."""
    bare.run("""
import os, sqlite3
kept, memory = sqlite3.connect('/output/kept.db'), sqlite3.connect(':memory:')
for database in kept, memory:
    database.execute('create table if not exists t (x)'); database.execute('delete from t'); database.commit()
log = open('/output/log', 'w')
print('before', file=log, flush=True)
pipe = os.pipe()
""")
    run = bare.run("""
for database in kept, memory:
    database.execute('insert into t values (1)'); database.commit()
kept.execute('insert into t values (2)')  # never committed
print('killed', file=log, flush=True)
os.write(pipe[1], b'sent')
os._exit(1)
""")
    assert run.state.startswith("rolled back"), run
    after = bare.run("""
print('after', file=log, flush=True)
counts = [database.execute('select count(*) from t').fetchone()[0] for database in (kept, memory)]
[counts, open('/output/log').read().split(), os.read(pipe[0], 9).decode()]
""")
    assert after.value == [[1, 0], ["before", "killed", "after"], "sent"], after
    bare.run("[database.close() for database in (kept, memory)]\nlog.close(); [os.close(fd) for fd in pipe]")


def test_branches_share_files_and_nothing_else(session):
    session.run("x = []")
    done(session, {"checkpoint": "empty"})
    write = "x.append({0}); import os; seen = sorted(os.listdir('/output')); open('/output/{0}', 'w').close(); [x, seen]"
    results = answers_of_branches(session, *[write.format(number) for number in range(8)])
    values = [result["manifest"]["guest"]["value"]["application/json"] for result in results]
    assert values == [[[number], [str(earlier) for earlier in range(number)]] for number in range(8)]
    assert [[file["path"] for file in result["manifest"]["files"]] for result in results] == [[str(number)] for number in range(8)]
    done(session, {"keep": 5})
    assert session.run("x").value == [4]
    done(session, {"rollback": "empty"})
    assert session.run("x").value == []
    assert "a list of 1 to 8 runs" in refused(session, {"branch": [{"code": "1"}] * 9})
    assert "a list of 1 to 8 runs" in refused(session, {"branch": []})


def test_a_branch_that_is_killed_can_be_kept_and_is_what_they_began_from(session):
    session.run("x = 1")
    results = answers_of_branches(session, "x = 2; import os; os._exit(1)", "x = 3; 1 / 0")
    assert [result["state"] for result in results] == ["rolled back to run 1", "kept"]
    assert done(session, {"keep": 1})["state"] == "that of run 1"
    assert session.run("x").value == 1


def test_branches_are_runs_like_others(base_tree):  # pylint: disable=unused-argument
    with session_client.Session("--session-runs=2") as session:
        session.ask({"branch": [{"code": "1"}] * 3})
        answers = [session.answer() for _ in range(5)]
        assert [a["event"] for a in answers] == ["result", "result", "error", "done", "end"], answers
        assert "used up" in answers[2]["message"] and answers[4]["reason"] == "runs"
