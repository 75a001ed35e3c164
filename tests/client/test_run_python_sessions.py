"""RunPython in a session: what stays, what a killed run costs, whose loop tools run in, who is asked before a denial."""

import asyncio
import contextlib
import gc
import json
import os
import threading

import cells
import pytest
from runners import fresh  # noqa: F401

import hotcell
from hotcell.adapters import RunPython
from hotcell.adapters import allow as registry
from hotcell.adapters.allow import allow

BOUNDS = {"tree": "base", "memory": "256M", "timeout": 10 * cells.SLOWNESS}


@pytest.fixture(name="g")
def namespace():
    return {}


@pytest.fixture(name="runner")
def runner_with_a_session(g):
    runner = RunPython(g=g, session=True, **BOUNDS)
    yield runner
    runner.close()


def ask(runner, code):
    return asyncio.run(runner(code))


def launcher(runner):
    """The process of its session."""
    return runner._live._session._process  # pylint: disable=protected-access


def test_what_code_defines_stays(runner, g):
    g["n"] = 3
    assert ask(runner, "class Box:\n    def __init__(self, n): self.n = n\ndef f(): return n + 1\nbox, _own = Box(n), object()\nf()") == 4
    assert ask(runner, "_own\nm = [box.n, f(), isinstance(box, Box)]\nm") == [3, 4, True] == [*g["m"][:1], 4, True]
    g["n"] = 10
    assert ask(runner, "n\n[f(), m]") == [11, [3, 4, True]]  # the caller's new value, and what the session had
    g["m"] = "other"
    assert ask(runner, "m") == "other" and not {"Box", "f", "_own", "box"} & g.keys()


def test_a_run_that_is_killed_costs_only_itself(runner, g):
    g["n"] = 1
    ask(runner, "def f(): return n\nx = object()")
    with pytest.raises(hotcell.JobError):
        ask(runner, "n = 2\nimport os\nos.abort()")
    assert ask(runner, "[f(), type(x).__name__]") == [1, "object"] and g["n"] == 1


def test_what_an_error_left_is_the_callers_as_far_as_it_can_be_sent(runner, g):
    """S3.15: the caller's namespace decides, also after an exception."""
    g["n"] = 1
    with pytest.raises(ZeroDivisionError):
        ask(runner, "n = 2\nf = lambda: 5\n1/0")
    assert ask(runner, "[n, f()]") == [2, 5] and g["n"] == 2
    g["n"] = 7
    assert ask(runner, "n") == 7


def test_files_that_were_written_before_an_exception_come_out(g, tmp_path):
    """S3.19: as they do from a cell of one run."""
    with contextlib.closing(RunPython(g=g, session=True, tree="base", ok_dests=["."])) as runner:
        with pytest.raises(ZeroDivisionError):
            ask(runner, "open('first', 'w').write('x')\n1/0")
        assert (tmp_path / "first").read_text() == "x"
        (tmp_path / "theirs").write_text("of the caller's")
        with pytest.raises(ZeroDivisionError):
            ask(runner, "n = 5\nopen('theirs', 'a').write(' and of the code')\n1/0")
        assert (tmp_path / "theirs").read_text() == "of the caller's and of the code" and g["n"] == 5


def test_tools_of_this_moment(runner, g):
    def greet(name, *, loud=False):
        """Say hello."""
        return f"hello {name}" + "!" * loud

    def fail():
        raise KeyError("text")
    allow(greet, fail)
    g.update(greet=greet, fail=fail)
    assert ask(runner, "[greet('you', loud=True), greet.__doc__, greet.__name__]") == ["hello you!", "Say hello.", "greet"]
    with pytest.raises(KeyError):
        ask(runner, "fail()")
    g["greet"] = lambda name: f"bye {name}"
    with pytest.raises(PermissionError, match="greet is not allowed"):
        ask(runner, "(lambda: greet('you'))()")
    allow(g["greet"])
    assert ask(runner, "greet('you')") == "bye you"
    tool, g["greet"] = g["greet"], "text"
    assert ask(runner, "greet") == "text"
    g["greet"] = tool
    assert ask(runner, "greet('me')") == "bye me"
    with pytest.raises(NameError):
        ask(runner, "tools")


def test_coroutines_run_in_the_callers_loop(runner, g):
    loops = []

    async def double(n):
        loops.append(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return n * 2

    async def main():
        loops.append(asyncio.get_running_loop())
        return await runner("import asyncio\nawait asyncio.gather(*(double(i) for i in range(5)))")
    allow(double)
    g["double"] = double
    assert asyncio.run(main()) == [0, 2, 4, 6, 8] and len(set(map(id, loops))) == 1 and len(loops) == 6


@pytest.mark.parametrize("code", ["begun()\nwhile True: pass", "begun()\nwhile True:\n    try:\n        while True: pass\n"
                                  "    except KeyboardInterrupt: break\nimport time\ntime.sleep(1000)"])
def test_a_task_that_is_cancelled_ends_its_run(runner, g, code):
    async def main():
        up = asyncio.Event()

        async def begun():
            up.set()
        allow(begun)
        g["begun"] = begun
        await runner("x = object()")
        task = asyncio.create_task(runner(code.replace("begun()", "await begun()")))
        await up.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await runner("type(x).__name__")
    assert asyncio.run(main()) == "object"


def test_a_coroutine_that_never_ends_ends_with_the_run_that_called_it(runner, g):
    ended = []

    async def main():
        up = asyncio.Event()

        async def hang():
            up.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(True)

        async def quick():
            return 42
        allow(hang, quick)
        g.update(hang=hang, quick=quick)
        task = asyncio.create_task(runner("await hang()"))
        await up.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await runner("await quick()")
    assert asyncio.run(main()) == 42 and ended


def test_runs_come_one_after_the_other(runner, g):
    async def main():
        return await asyncio.gather(*(runner(f"seen = globals().get('seen', [])\nseen.append({i})\nlen(seen)") for i in range(4)))
    assert sorted(asyncio.run(main())) == [1, 2, 3, 4] and sorted(g["seen"]) == [0, 1, 2, 3]


def test_a_session_that_is_killed_is_said_and_another_begins(runner, g):
    up, g["n"] = threading.Event(), 1

    def begun(): up.set()
    allow(begun)
    g["begun"] = begun
    ask(runner, "x = n")

    def kill():
        up.wait(cells.PATIENCE)
        launcher(runner).kill()
    thread = threading.Thread(target=kill)
    thread.start()
    with pytest.raises(hotcell.LaunchFailed, match="signal 9"):
        ask(runner, "begun()\nwhile True: pass")
    thread.join()
    with pytest.raises(NameError):
        ask(runner, "_y = x_of_before\nx")
    assert ask(runner, "n") == 1


@pytest.mark.parametrize("limit, value", [("session_idle", "1s"), ("session_runs", 1)])
def test_a_session_that_has_come_to_its_end_is_begun_again(g, monkeypatch, tmp_path, limit, value):
    path = tmp_path / "config" / "hotcell" / "python.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"limits": {limit: value}}))
    runner = RunPython(g=g, session=True, **BOUNDS)
    assert ask(runner, "n = 1\nn") == 1
    launcher(runner).wait(cells.PATIENCE)
    with pytest.warns(UserWarning, match=f"limits.{limit}.*what it had is lost"):
        assert ask(runner, "n") == 1  # the caller has it
    runner.close()


def test_the_users_file_can_ask_for_a_session(g, tmp_path):
    path = tmp_path / "config" / "hotcell" / "python.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"session": true}')
    runner = RunPython(g=g, **BOUNDS)
    ask(runner, "def f(): return 6 * 7")
    assert ask(runner, "f()") == 42
    runner.close()
    with pytest.raises(NameError):
        ask(RunPython(g=g, session=False, **BOUNDS), "f()")
    path.write_text('{"session": 1}')
    with pytest.warns(UserWarning, match="python.json:1:13: session: expected true or false"):
        RunPython(g=g)


def test_other_rules_are_another_session(runner):
    ask(runner, "class Own: pass")
    registry.allow_write_types(set)
    with pytest.warns(UserWarning, match="rules for code have changed"):
        assert ask(runner, "'Own' in globals()") is False


def test_a_runner_that_is_forgotten_leaves_nothing(g):
    runner = RunPython(g=g, session=True, **BOUNDS)
    ask(runner, "1")
    process, directory = launcher(runner), runner._live._session.output_dir.parent  # pylint: disable=protected-access
    assert process.poll() is None
    del runner
    gc.collect()
    assert process.wait(cells.PATIENCE) == 0 and not os.path.exists(directory)


def test_frames_and_arrays_stay_or_come_anew(g, scientific):
    pandas, numpy = cells.need_module("pandas"), cells.need_module("numpy")
    g.update(df=pandas.DataFrame({"a": [1, 2], "id": ["007", "x"]}), arr=numpy.arange(3), np=numpy)
    runner = RunPython(g=g, session=True, **{**BOUNDS, "tree": "scientific", "memory": "1G", "timeout": 60 * cells.SLOWNESS})
    assert ask(runner, "twice = df.assign(b=df.a * 2)\nmore = np.append(arr, 9)\ngroups = df.groupby('id')\nint(df.a.sum())") == 3
    assert list(g["twice"].b) == [2, 4] and list(g["more"]) == [0, 1, 2, 9] and "groups" not in g
    g["df"].loc[0, "a"] = 40
    assert ask(runner, "[int(df.a.sum()), groups.ngroups, list(twice.id)]") == [42, 2, ["007", "x"]]
    runner.close()


# ---- the last chance before a denial ----

@pytest.mark.parametrize("session", [False, True])
def test_what_nobody_allowed_is_asked_for(g, session):
    asked = []

    def store(name, *parts, mode="w"):
        return [name, *parts, mode]

    def hook(info):
        asked.append(info)
        return info.call.arguments.get("name", ...) == info.data.get("good")

    class Cell:
        def store(self, name): return name
    g.update(store=store, method=Cell().store, n=1, Cell=Cell)
    runner = RunPython(g=g, pre_deny=hook, session=session, **BOUNDS)
    try:
        async def main():
            return await runner("[store('a', 'b', n), method(name='a')]", data={"good": "a"})
        assert asyncio.run(main()) == [["a", "b", 1, "w"], "a"]
        call = asked[0].call
        assert (call.owner, call.name, call.args, call.arguments) == \
            (__name__, "store", ("a", "b", 1), {"name": "a", "parts": ("b", 1), "mode": "w"})
        assert asked[1].obj is g["method"].__self__ and asked[1].message == "method is not allowed"
        with pytest.raises(PermissionError, match="store is not allowed"):
            ask(runner, "store('other')")
        with pytest.raises(PermissionError, match="Cell is not allowed"):
            ask(runner, "Cell()")
        allow({Cell: ["store"]})  # found along its class: nobody has to be asked
        assert len(asked) == 4 and ask(runner, "method('b')") == "b" and len(asked) == 4
    finally:
        runner.close()


def test_without_a_hook_what_nobody_allowed_is_refused(runner, g):
    g["store"] = lambda: 1
    with pytest.raises(PermissionError, match="store is not allowed"):
        ask(runner, "store()")
