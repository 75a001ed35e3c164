"""Interactive runs of a session: input() asks the client, who answers by a request."""

import json
import os
import select
import signal

import pytest

import cells
import session_client

SHORT = {"timeout": "1s", "grace": "0"}


@pytest.fixture(name="session")
def fixture_session(base_tree):  # pylint: disable=unused-argument
    with session_client.Session() as session:
        yield session


def begin(session, code, **more):
    session.ask({"run": {"code": code, "interactive": True, **more}})


def asked(session):
    event = session.answer()
    assert event["event"] == "input_request", event
    return event["input_request"]["prompt"]


def test_each_input_asks_and_is_answered(session):
    begin(session, "a = input('Name? ')\nb = input()\nprint(a + b)")
    assert asked(session) == "Name? "
    session.ask({"input": "Zoë\n"})
    assert asked(session) == ""
    session.ask({"input": "!\n"})
    run = session.result()
    assert run.status == "ok" and run.stdout == "Name? Zoë!\n", run
    assert session.run("a").value == "Zoë"  # the state is kept, and later runs have no input
    run = session.run("input('x')")
    assert run.status == "error" and "EOFError" in run.manifest["stderr"]["text"]
    begin(session, "input()")
    assert asked(session) == ""
    session.ask({"input": "again\n"})
    assert session.result().value == "again"


def test_input_that_comes_early_and_its_end(session):
    begin(session, "import sys\nfirst = input()\nrest = sys.stdin.read()\n[first, rest]")
    session.ask({"input": "1\n2\n"})
    session.ask({"input": "3"})
    session.ask({"input": None})
    assert asked(session) == ""
    assert session.result().value == ["1", "2\n3"]
    begin(session, "input()")  # its program is checked by another process first
    session.ask({"input": "early\n"})
    assert asked(session) == "" and session.result().value == "early"
    begin(session, "input()")
    assert asked(session) == ""
    session.ask({"input": None})
    assert "EOFError" in session.result().manifest["stderr"]["text"]


def test_without_an_answer_the_run_ends_in_its_time(session):
    begin(session, "x = 1\ninput('?')", limits=SHORT)
    assert asked(session) == "?"
    run = session.result()
    assert run.status == "timeout", run
    session.ask({"input": "late\n"})  # no run waits for it
    assert session.run("1 + 1").value == 2


def test_an_interrupt_ends_the_wait(session):
    begin(session, "x = 5\ninput('?')")
    assert asked(session) == "?"
    session.ask({"interrupt": True})
    assert session.result().manifest["guest"]["error"]["type"] == "KeyboardInterrupt" and session.run("x").value == 5


def test_more_than_may_wait_ends_the_input(session):
    begin(session, "input()")
    assert asked(session) == ""
    session.ask({"input": "x" * 70_000 + "\n"})
    assert "EOFError" in session.result().manifest["stderr"]["text"]


def test_wrong_requests(session):
    for spec, why in [({"interactive": 1}, "true or false"), ({"interactive": True, "stdin": "x"}, "not both")]:
        session.ask({"run": {"code": "1", **spec}})
        assert why in session.answer()["message"]
    session.ask({"input": 5})
    assert "expected a string" in session.answer()["message"]


def test_a_run_that_is_not_interactive_cannot_ask(session):
    forged = "import json, os, struct\nbody = json.dumps({'prompt': 'FORGED'}).encode()\nos.write(3, struct.pack('<BBHI', 18, 1, 0, len(body)) + body)"
    run = session.run(forged)  # the next answer is the result: no event came before it
    assert run.status in ("error", "rejected"), run


def test_prompts_are_redacted_and_bounded(base_tree, tmp_path):  # pylint: disable=unused-argument
    (tmp_path / "p.json").write_text('{"name": "p", "extends": "default", "redact": {"rules": [{"name": "s", "pattern": "secret-[0-9]+", "replace": "HIDDEN"}]}}')
    with session_client.Session(policy=str(tmp_path / "p.json")) as session:
        begin(session, "input('the secret-42: '), input('x' * 100_000)")
        assert asked(session) == "the HIDDEN: "
        session.ask({"input": "1\n2\n"})
        assert asked(session) == ""
        assert session.result().status == "ok"


FLOOD = "for _ in range({count}):\n    try: input({prompt})\n    except EOFError: pass"


@pytest.mark.parametrize("count, prompt, most", [(6000, "", 4096), (500, "'\\x01' * 4000", (4 << 20) // 24_000)])
def test_requests_for_input_are_bounded_and_those_left_out_are_counted(session, count, prompt, most):
    begin(session, FLOOD.format(count=count, prompt=prompt), limits={"stdout": "1K"})
    session.ask({"input": None})
    asked_for, cuts = 0, []
    while (answer := session.answer())["event"] != "result":
        assert answer["event"] in ("input_request", "cut"), answer
        asked_for += answer["event"] == "input_request"
        cuts += [answer] if answer["event"] == "cut" else []
    assert answer["manifest"]["status"] == "ok" and 1 <= asked_for <= most + 1, (asked_for, answer["manifest"]["reason"])
    assert cuts == [{"event": "cut", "stream": "input_request"}, {"event": "cut", "stream": "input_request", "omitted": count - asked_for}]
    begin(session, "input('again')")  # the bound is that of a run
    session.ask({"input": "x\n"})
    assert asked(session) == "again" and session.result().value == "x"


# ---- clients that do not read ----

LONG = "print('x' * 900_000)"  # its answer is more than a pipe holds


def test_a_client_that_does_not_read_its_answer_is_idle(base_tree):  # pylint: disable=unused-argument
    with session_client.Session("--session-idle=1s") as session:
        session.ask({"run": {"code": LONG}})
        assert session.process.wait(cells.PATIENCE) != 0
        assert "could not be written" in session.process.stderr.read()


def test_the_life_of_a_session_ends_without_a_client_that_reads(base_tree):  # pylint: disable=unused-argument
    with session_client.Session("--session-life=3s") as session:
        session.ask({"run": {"code": LONG}})
        assert session.process.wait(cells.PATIENCE) != 0


def test_a_session_whose_client_does_not_read_can_be_ended(base_tree):  # pylint: disable=unused-argument
    with session_client.Session() as session:
        session.ask({"run": {"code": LONG}})
        assert select.select([session.process.stdout], [], [], cells.PATIENCE)[0], "the answer comes"
        session.process.send_signal(signal.SIGTERM)
        assert session.process.wait(cells.PATIENCE) != 0


def test_a_client_that_reads_slowly_gets_all_of_an_answer(base_tree):  # pylint: disable=unused-argument
    with session_client.Session("--session-idle=5s") as session:
        session.ask({"run": {"code": LONG}})
        fd, line = session.process.stdout.fileno(), b""
        while not line.endswith(b"\n"):
            line += os.read(fd, 5000)
        assert json.loads(line)["manifest"]["stdout"]["bytes"] == 900_001
        assert session.run("1").value == 1
