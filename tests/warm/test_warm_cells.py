"""Warm cells: what users see of a job in one is what they see of it in a cold one; nothing is shared, nothing is left."""

import json
import os
import re
import signal
import sys
from pathlib import Path

import cells
import hostile
import pytest
from siblings import SIBLINGS, Siblings, parent

WARM = cells.BUILD / "warm" / "hotcell"
SAY = {"HOTCELL_WARM_SAY": "1"}


@pytest.fixture(autouse=True)
def built(base_tree):
    for program in (WARM, SIBLINGS):
        if not program.exists():
            cells.skip(f"{program} is not built: run 'make warm'")


@pytest.fixture
def warm(monkeypatch):
    """Launchers that the test starts run their jobs in warm cells."""
    monkeypatch.setattr(cells, "HOTCELL", WARM)


def run_warm(code, *options, **arguments):
    result = cells.run(code, *options, env=SAY, **arguments)
    assert "warm: yes\n" in result.stderr, result
    return result


# ---- the same as cold ----

FIGURE = "import sys\nprint('out')\nprint('err', file=sys.stderr)\nopen('kept.txt', 'w').write('x')\n{'a': [1, 2]}"
PROGRAMS = {
    "ok": (FIGURE, ()),
    "error": ("def f():\n    return 1 / 0\nf()\n", ()),
    "exit": ("raise SystemExit(7)", ()),
    "signal": ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", ("--guard=off",)),
    "syntax": ("print(1\n", ()),
    "rejected": ("import subprocess\nsubprocess\n", ()),
    "refused": ("open('/tmp/../etc/passwd', 'w')", ()),
    "timeout": ("while True: pass", ("--timeout=2",)),
    "memory": ("a = bytearray(1 << 30)\n", ()),
    "cpu": ("while True: pass", (f"--cpu={0.3 * cells.SLOWNESS:g}",)),
    "output": ("while True: print('x' * 1000)", ("--stdout-size=4K", "--overflow=end")),
    "full": ("open('big', 'wb').write(b'x' * (1 << 22))", ("--output-size=1M",)),
    "call": ("import os\ntry:\n    os.setuid(0)\nexcept OSError as error:\n    print(error)", ("--guard=off",)),
    "loopback": ("import socket\ns = socket.create_server(('127.0.0.1', 0))\nprint(s.getsockname()[0])",
                 ("--network=loopback",)),
    "forks": ("import os\npid = os.fork()\nif not pid: os._exit(3)\nprint(os.waitpid(pid, 0)[1] >> 8)",
              ("--processes=fork",)),
}


def seen(manifest):
    """What does not depend on when and where a job ran."""
    what = {name: manifest[name] for name in ("status", "exit_code", "partial", "rejection", "process", "stdout", "guest",
                                              "files", "figures", "skipped", "code", "limits", "warnings")}
    what["stdout"] = what["stdout"]["text"]
    what["layers"] = {name: layer["on"] for name, layer in manifest["layers"].items()}
    what["denials"] = [{**denial, "count": None} for denial in manifest["denials"]]
    return what


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_job_in_a_warm_cell_ends_as_in_a_cold_one(program, user, monkeypatch):
    code, options = PROGRAMS[program]
    cold = cells.run(code, *options, user=user)
    monkeypatch.setattr(cells, "HOTCELL", WARM)
    warm = run_warm(code, *options, user=user)
    assert seen(warm.manifest) == seen(cold.manifest)
    assert warm.files() == cold.files() and warm.status == cold.status
    assert re.sub(r"\d+ bytes|warm: yes\n", "", warm.stderr) == re.sub(r"\d+ bytes", "", cold.stderr)
    assert sorted(warm.manifest) == sorted(cold.manifest)


def test_data_comes_in_and_results_go_out(user, warm):
    folder = cells.new_directory(user)
    table = folder / "table.txt"
    table.write_text("a,b\n1,2\n")
    table.chmod(0o600)
    if cells.IS_ROOT:
        os.chown(table, user.uid, user.uid)
    result = run_warm("""
        import os
        print(x, open('/input/text.txt').read(), os.listdir('/input'), oct(os.stat('/input/text.txt').st_mode))
        for path in ('/input/text.txt', '/input/new'):
            try:
                open(path, 'w')
            except OSError as error:
                print(error.errno)
        y = x + 1
        """, f"--input=text={table}", "--var=x=41", "--return=y", "--guard=off", user=user)
    assert result.manifest["status"] == "ok", result
    assert result.stdout.startswith("41 a,b\n1,2\n ['text.txt'] 0o100400\n"), result
    assert len(result.stdout.splitlines()) == 5
    assert result.manifest["inputs"][0]["bytes"] == 8 and '"y"' in json.dumps(result.manifest["guest"])


@pytest.mark.parametrize("option", ["--seed=1", "--output-mode=bind"])
def test_what_a_warm_cell_is_not_for_runs_cold(option, warm):
    result = cells.run("print(1)", option, env=SAY)
    assert result.manifest["status"] == "ok" and "warm: cold: " in result.stderr, result


def test_where_cgroups_are_required_and_there_are_none_nothing_runs(warm):
    result = cells.run("print(1)", "--enforcement=cgroup", env={**SAY, "HOTCELL_CGROUP": "/nowhere"})
    assert "warm: cold: start a zygote: HOTCELL_CGROUP: /nowhere is not a cgroup v2 directory" in result.stderr
    assert result.status == 78, result


# ---- siblings ----

def test_siblings_share_no_namespace_and_as_root_no_uid(user):
    with Siblings("print(1)", 3, user) as family:
        found = family.manifests()
    for name in ("user", "mount", "pid", "network", "ipc", "uts", "cgroup", "time"):
        layers = [m["layers"][f"{name}_namespace"] for m in found]
        assert all(layer["on"] for layer in layers) and len({layer["evidence"].split(",")[0] for layer in layers}) == 3
    uids = {m["layers"]["ids"]["evidence"] for m in found}
    assert len(uids) == (3 if user.is_root else 1)


def test_a_cell_finds_nothing_of_its_zygote_or_of_other_cells(user):
    code = """
import os, time
open("/tmp/mark", "w").write("x"); open("/output/mark2", "w").write("x")
def is_open(fd):
    try:
        return os.fstat(fd) is not None
    except OSError:
        return False
print(os.listdir("/proc"), os.getpid(), os.getppid(), sorted(os.listdir("/tmp")), sorted(os.listdir("/output")),
      list(filter(is_open, range(os.sysconf("SC_OPEN_MAX")))), time.monotonic() < 60)
"""
    with Siblings(code, 2, user, {"guard": "off"}) as family:
        first, second = family.manifests()
    assert first["stdout"]["text"] == second["stdout"]["text"] == \
        "[] 2 1 ['mark'] ['mark2'] [0, 1, 2, 3] True\n"


def test_a_cell_that_was_killed_while_it_waited_fails_the_launch_and_no_other(user):
    with Siblings("print(1)", 2, user) as family:
        os.kill(family.pids[0], signal.SIGKILL)
        cells.wait_until("it is gone", lambda: not os.path.exists(f"/proc/{family.pids[0]}"))  # a job is quicker, now and then
        dead, alive = family.manifests()
    assert dead["status"] in ("launch_failed", "killed") and alive["status"] == "ok", (dead, alive)


def test_a_cell_can_be_handed_to_another_process(user):
    with Siblings("import os\nprint(os.getpid())", 3, user, how="pass") as family:
        found = family.manifests()
    assert [m["stdout"]["text"] for m in found] == ["2\n"] * 3 and all(m["status"] == "ok" for m in found)
    assert not [pid for pid in family.pids if os.path.exists(f"/proc/{pid}")]


def test_cells_end_with_their_zygote(user):
    with Siblings("print(1)", 2, user) as family:
        zygote = parent(family.pids[0])
        assert cells._read(f"/proc/{zygote}/comm") == "hotcell-zygote\n"
        os.kill(zygote, signal.SIGKILL)
        for pid in family.pids:
            cells.wait_until("the cell is gone", lambda pid=pid: not os.path.exists(f"/proc/{pid}"))
        assert [m["status"] for m in family.manifests()] == ["launch_failed"] * 2


def test_more_cells_than_uids_at_a_time_are_made_one_after_the_other(user):
    """An id is free again when its cell has ended."""
    env = {"HOTCELL_UID_RANGE": "100000:16"} if user.is_root else {}
    with Siblings("print(1)", 5, user, how="bench", env=env) as family:
        assert family.process.wait(timeout=cells.PATIENCE) == 0


def test_nothing_is_left_when_the_launcher_is_killed(user):
    with Siblings("print(1)", 3, user) as family:
        family.process.kill()
        family.process.wait()
        for pid in family.pids:
            cells.wait_until("the cell is gone", lambda pid=pid: not os.path.exists(f"/proc/{pid}"))


def test_warm_code_that_fails_is_told_and_the_job_goes_cold(warm):
    result = cells.run("print(1)", env=SAY, policy={"warm": {"code": "raise ValueError('no such thing')"}})
    assert "the zygote ended while it was starting: ValueError: no such thing" in result.stderr
    assert result.manifest["status"] == "ok"


@pytest.mark.parametrize(("code", "told"), [("a = 1\nb =\n", "SyntaxError: invalid syntax (<warm>, line 2)"),
                                            ("def f(n):\n    f(n - 1) if n else 1 / 0\nf(20)", "ZeroDivisionError: division by zero"),
                                            ("import sys\nprint('x' * 300000, file=sys.stderr)\n1 / 0", "ZeroDivisionError: division by zero")])
def test_the_last_line_is_told_however_much_there_is_before_it(code, told, warm):
    result = cells.run("print(1)", env=SAY, policy={"warm": {"code": code}})
    assert f"the zygote ended while it was starting: {told}\n" in result.stderr and result.manifest["status"] == "ok"


def test_the_last_line_is_told_of_code_that_fails_in_a_copy_alone(warm):
    """warm.each; the zygote runs the code once, and eight times more to warm up."""
    code = "import builtins\nbuiltins.runs = getattr(builtins, 'runs', 0) + 1\nif builtins.runs > 9:\n    raise ValueError('too often')"
    result = cells.run("print(1)", env=SAY, policy={"warm": {"code": code, "each": True}})
    assert "the new cell ended before it was ready: ValueError: too often\n" in result.stderr and result.manifest["status"] == "ok"


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_what_warm_code_prints_is_dropped(stream, warm):
    """More than a pipe has room for."""
    result = run_warm("print(1)", policy={"warm": {"code": f"import sys\nprint('x' * 300000, file=sys.{stream})"}})
    assert result.manifest["stdout"]["text"] == "1\n" and not result.manifest["stderr"]["text"]


def test_threads_of_warm_code_are_refused(warm):
    code = "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()"
    result = cells.run("print(1)", env=SAY, policy={"warm": {"code": code}})
    assert "started threads (1)" in result.stderr and result.manifest["status"] == "ok"


COUNT = """
import resource, sys
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
before = faults()
seen = {row[0] for row in sys.rows}
for row in sys.rows:
    row[0] += 1
{'faults': faults() - before, 'seen': sorted(seen), 'kept': hasattr(sys, 'sampled')}
"""


def count_faults(sample, user=None):
    """Of a program that writes to a thousand pages of its zygote's."""
    policy = {"warm": {"code": "import sys\nsys.rows = [bytearray(8192) for _ in range(1000)]", "sample": sample}}
    return run_warm(COUNT, "--guard=off", policy=policy, user=user).manifest["guest"]["value"]["application/json"]


def test_what_the_sample_writes_to_is_there_for_the_job_and_nothing_that_it_wrote(user, warm):
    sample = "import sys\nfor row in sys.rows:\n    row[0] += 1\nsys.sampled = True"
    without, having = count_faults("", user), count_faults(sample, user)
    assert (having["seen"], having["kept"]) == ([0], False)
    assert without["faults"] > 4 * having["faults"], (without, having)


def test_memory_beside_what_the_sample_has_mapped_itself_is_there_too(warm):
    """It is the next in the order of addresses, but later cells do not have it."""
    make = "mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)"
    touch = "for at in range(0, 1 << 20, 4096): sys.block[at] = 1\n"
    policy = {"warm": {"code": f"import mmap, sys\nsys.block = {make}\nsys.block.write(bytes(1 << 20))",
                       "sample": f"import mmap, sys\n{touch}sys.own = {make}\nsys.own.write(bytes(1 << 20))"}}
    count = f"import resource, sys\ndef faults(): return resource.getrusage(resource.RUSAGE_SELF).ru_minflt\nbefore = faults()\n{touch}"
    result = run_warm(f"{count}faults() - before", "--guard=off", policy=policy)
    assert int(result.manifest["guest"]["value"]["text/plain"]) < 64, result


FRAME = """
import resource, pandas as pd
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
frame = pd.DataFrame({'a': [1, 2, 3], 'b': ['x', 'y', 'z']})
print(frame)
before = faults()
text = repr(frame), frame._repr_html_(), frame.to_json()
faults() - before
"""


def count_frame_faults(sample):
    policy = {"extends": "default", "warm": {"imports": ["pandas"], "sample": sample}}
    return int(run_warm(FRAME, policy=policy, tree="scientific").manifest["guest"]["value"]["text/plain"])


def test_the_sample_of_the_default_policy_makes_a_frame_its_value(scientific, warm):  # pylint: disable=unused-argument
    shipped = json.loads((Path(__file__).parents[2] / "policies/default.json").read_text(encoding="utf-8"))["warm"]["ladder"][1]["sample"]
    shown, only_printed = count_frame_faults(shipped), count_frame_faults("import pandas\nprint(pandas.DataFrame({'number': [1], 'text': ['a']}))")
    assert only_printed > 2 * shown, (only_printed, shown)


@pytest.mark.parametrize("sample", ["1 / 0", "import os\nos._exit(3)", "import os\nos.kill(os.getpid(), 9)", "not python",
                                    "print('x' * 1000000)\n['y' * 1000] * 1000"])
def test_a_sample_that_goes_wrong_costs_nothing_else(sample, warm):
    assert count_faults(sample)["seen"] == [0]


@pytest.mark.parametrize(("sample", "why"), [("x = 1\nraise ValueError('no such thing')", "ValueError: no such thing (line 2)"),
                                             ("x = 1\nx =", "invalid syntax (line 2)"),
                                             ("import subprocess\nsubprocess", "Import of 'subprocess' is not allowed by this policy (line 1)"),
                                             ("raise SystemExit(4)", "it ended with status 4"),
                                             ("import os\nos._exit(3)", "its process ended"),
                                             ("raise ValueError('x' * 100000)", "ValueError: xxx"),
                                             ("print('fine')", None),
                                             ("['y' * 1000] * 1000", None)])
def test_why_a_sample_fails_is_told(sample, why, warm):
    policy = {"extends": "default", "tree": "base", "warm": {"ladder": None, "sample": sample}}
    stderr = run_warm("1", policy=policy).stderr
    assert why is None and "sample" not in stderr or why and f"warm: its sample fails: {why}" in stderr, stderr


def test_libraries_that_only_the_sample_loads_are_not_looked_for_in_cells(warm):
    assert count_faults("import sqlite3, ssl, zoneinfo, lzma, bz2")["seen"] == [0]


def test_warm_modules_are_loaded_and_in_no_program_s_way(warm):
    result = run_warm("import sys\nprint('decimal' in sys.modules, 'decimal' in globals())", "--guard=off",
                      policy={"warm": {"imports": ["decimal", "nothing_like_it"]}})
    assert result.stdout == "True False\n"


def test_objects_of_the_interpreter_that_waits_are_not_counted(warm):
    """Those of modules, functions and their code, so that cells share their pages: from Python 3.12 on. What a program makes is counted, and
    freed."""
    count = ("import sys, json, weakref\nclass Own: pass\nown, held = Own(), Own()\ndead = weakref.ref(own)\ndel own\n"
             "print([sys.getrefcount(it) >= 0xffffffff for it in (json, json.dumps, json.dumps.__code__.co_names, json.JSONEncoder, Own, held)], dead())")
    policy = {"warm": {"imports": ["json"]}}
    there = sys.version_info >= (3, 12)
    assert run_warm(count, "--guard=off", policy=policy).stdout == f"{[there] * 4 + [False] * 2} None\n"
    cold = cells.run(count, "--guard=off", "--seed=1", policy=policy)
    assert cold.stdout == f"{[False] * 6} None\n", cold


def test_a_built_in_name_that_each_copy_changes_is_the_program_s(warm):
    code = "import builtins, sys\nsys.times = builtins.times = getattr(sys, 'times', 0) + 1"
    result = run_warm("import sys\nprint(times == sys.times > 1)", policy={"warm": {"code": code, "each": True}})
    assert result.stdout == "True\n", result


# ---- the drill ----

def test_no_drill_program_reaches_anything_from_a_warm_cell(user, warm):
    with hostile.lures(cells.ordinary()) as lure:
        found = hostile.batch(hostile.drill().values(), user, lure)
    reached = {name: outcome.reached for name, outcome in found.items() if outcome.reached}
    assert not reached and len(found) == len(hostile.drill())
