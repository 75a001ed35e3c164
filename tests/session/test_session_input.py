"""Interactive runs of a session: input() asks the client, who answers by a request."""

import pytest

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
