"""When its time is over a program gets a TimeoutError, so that what it has is kept; limits.grace later the launcher kills."""
import cells
import pytest
import session_client

FOREVER = "while True: pass\n"


def run(code, timeout="2", *options, **more):
    return cells.run(code, "--guard=off", f"--timeout={timeout}", *options, **more)


def ended(result, partial=True):
    assert (result.manifest["status"], result.status, result.manifest["partial"]) == ("timeout", 3, partial), result
    assert "limits.timeout" in result.manifest["reason"]
    return result


def test_the_program_sees_a_timeout_error_at_its_own_line(user):
    result = ended(run("x = 1\n" + FOREVER, user=user))
    error = result.manifest["guest"]["error"]
    assert error["type"] == "TimeoutError" and "limits.timeout" in error["message"]
    assert 'File "<cell>", line 2' in error["traceback"] and error["traceback"] in result.stderr
    assert result.manifest["process"] == {"exit": 1}


@pytest.mark.parametrize("wait", [
    "import time; time.sleep(1000)", "import threading; lock = threading.Lock(); lock.acquire(); lock.acquire()",
    "import os; os.read(os.pipe()[0], 1)", "import asyncio; await asyncio.sleep(1000)",
    "import threading, time; threading.Thread(target=time.sleep, args=(1000,)).start()",
    "import atexit, time; atexit.register(time.sleep, 1000)",
    "import threading, time\nfor _ in range(4): threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\n" + FOREVER,
], ids=["sleep", "lock", "read", "await", "thread", "atexit", "threads"])
def test_whatever_it_waits_for_is_interrupted(base_tree, wait):
    result = ended(run(wait))
    assert result.manifest["guest"]["complete"] is True
    assert "TimeoutError" in result.stderr


def test_files_and_output_so_far_are_kept(base_tree):
    result = ended(run("open('/output/a.txt', 'w').write('half')\nprint('begun')\n" + FOREVER))
    assert result.files() == ["a.txt"] and result.stdout == "begun\n"


def test_figures_so_far_are_kept():
    cells.build_tree("scientific")
    result = ended(run("import matplotlib.pyplot as plt\nplt.plot([1, 2])\n" + FOREVER, "8", "--memory=1G", tree="scientific"))
    assert len(result.manifest["figures"]) == 1 and result.manifest["figures"][0]["mime"] == "image/png"


def test_a_program_that_finishes_after_the_warning_is_ok(base_tree):
    result = run("""
try:
    n = 0
    while True: n += 1
except TimeoutError:
    print("summing up")
42
""")
    assert result.manifest["status"] == "ok" and result.stdout == "summing up\n", result
    assert result.manifest["guest"]["value"]["text/plain"] == "42" and result.manifest["partial"] is False


@pytest.mark.parametrize("code", [
    "while True:\n try:\n  n = 0\n  while True: n += 1\n except BaseException: pass",
    "import signal; signal.signal(signal.SIGVTALRM, signal.SIG_IGN)\n" + FOREVER,
    "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGVTALRM})\n" + FOREVER,
    "max(range(10 ** 15))",
], ids=["catches", "ignores", "blocks", "counts in C"])
def test_a_program_that_ignores_its_deadline_is_killed(base_tree, code):
    result = ended(run(code, "0.4"), partial=False)
    assert result.manifest["guest"] is None and result.manifest["process"] is None


def test_a_program_that_restores_the_default_is_ended_by_the_signal(base_tree):
    result = ended(run("import signal; signal.signal(signal.SIGVTALRM, signal.SIG_DFL)\n" + FOREVER), partial=False)
    assert result.manifest["process"]["name"] == "SIGVTALRM"


def test_grace_of_zero_means_no_warning(base_tree):
    result = ended(run(FOREVER, "0.4", "--grace=0"), partial=False)
    assert result.manifest["guest"] is None and "ran longer than" in result.manifest["reason"]


@pytest.mark.parametrize("start", ["cold", "slow", "session"])
def test_the_program_has_all_of_its_time(base_tree, start):
    """The same in each way: a second of two is no matter, nor what the prelude took before the program."""
    sleep = f"import time\ntime.sleep({1.8 * cells.SLOWNESS})\n'slept'"
    if start == "session":
        with session_client.Session() as session:
            ended_at = session.run(sleep, limits={"timeout": 2 * cells.SLOWNESS, "grace": "5s"})
            assert (ended_at.status, ended_at.value) == ("ok", "slept"), ended_at
        return
    policy = {"prelude": {"code": f"import time; time.sleep({cells.SLOWNESS})"}} if start == "slow" else {}
    result = run(sleep, policy=policy)
    assert (result.manifest["status"], result.manifest["guest"]["value"]["text/plain"]) == ("ok", "'slept'"), result


def test_both_deadlines_come_when_they_should_and_are_in_the_manifest(base_tree):
    soft = ended(run(FOREVER, "1", "--grace=30s"))
    assert "TimeoutError" in soft.manifest["reason"]
    assert cells.SLOWNESS <= soft.manifest["timing"]["run"] < 30
    hard = ended(run("while True:\n try:\n  n = 0\n  while True: n += 1\n except TimeoutError: pass", "1", "--grace=1500ms"), partial=False)
    assert "did not end within 1500ms after that (limits.grace)" in hard.manifest["reason"]
    assert hard.manifest["timing"]["run"] >= cells.SLOWNESS + 1.5
    assert (hard.manifest["limits"]["timeout"], hard.manifest["limits"]["grace"]) == (cells.SLOWNESS, 1.5)


def test_a_prelude_has_the_time_of_a_program(base_tree):
    result = ended(run("1", "0.5", "--grace=500ms", policy={"prelude": {"code": "while True: pass"}}), partial=False)
    assert "did not get to its program" in result.manifest["reason"] and result.manifest["guest"] is None


def test_a_program_that_fails_early_is_no_timeout(base_tree):
    result = run("1 / 0")
    assert result.manifest["status"] == "error", result


def test_an_error_after_the_warning_is_a_timeout(base_tree):
    result = ended(run("try:\n n = 0\n while True: n += 1\nexcept TimeoutError:\n raise ValueError('late')"))
    assert result.manifest["guest"]["error"]["type"] == "ValueError"


# ---- the harness's own work ----

HANGS = "class Hangs:\n    def {method}(self):\n        while True: pass\n"


def test_a_value_that_hangs_costs_its_text_only(base_tree):
    result = run(HANGS.format(method="__repr__") + "open('a.txt', 'w').write('kept')\nHangs()", "30")
    assert result.manifest["status"] == "ok" and result.files() == ["a.txt"], result
    assert result.manifest["guest"]["value"]["text/plain"].startswith("<unprintable Hangs object: TimeoutError: ")


def test_the_end_of_the_time_ends_a_value_that_hangs(base_tree):
    result = run(HANGS.format(method="__repr__") + "Hangs()")
    assert result.manifest["status"] == "ok", result
    assert "TimeoutError" in result.manifest["guest"]["value"]["text/plain"]


@pytest.mark.parametrize("timeout", ["4", "60"])
def test_a_value_that_catches_all_costs_itself_only(base_tree, timeout):
    result = run("""
class Hangs:
    def __repr__(self):
        while True:
            try:
                n = 0
                while True: n += 1
            except BaseException: pass
print("done")
open("a.txt", "w").write("kept")
Hangs()
""", timeout)
    assert result.manifest["status"] == "ok" and result.stdout == "done\n" and result.files() == ["a.txt"], result
    guest = result.manifest["guest"]
    assert guest["value"] is None and "do not answer" in guest["warnings"][0]


@pytest.mark.parametrize("method", ["_repr_html_", "_repr_png_"])
def test_a_form_that_hangs_is_left_out(base_tree, method):
    result = run(HANGS.format(method=method) + "    def __repr__(self): return 'plain'\nHangs()", "30")
    assert result.manifest["status"] == "ok", result
    assert result.manifest["guest"]["value"] == {"text/plain": "plain"}


def test_an_alarm_of_the_programs_own_does_not_end_the_harness(base_tree):
    result = run("import signal; signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)\nsignal.signal(signal.SIGALRM, lambda *_: 1 / 0)\n"
                 "try:\n for _ in range(10 ** 9): pass\nexcept ZeroDivisionError: pass\nsignal.setitimer(signal.ITIMER_REAL, 3600)\n'fine'")
    assert result.manifest["guest"]["value"]["text/plain"] == "'fine'", result
