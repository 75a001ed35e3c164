"""Jobs in warm cells are answered while the kernel still takes down their memory: that changes nothing of what is said."""

import base64
import hashlib
import json
import os

import cells
import daemons
import pytest

# The kernel tells before the memory is gone.
TELLS = tuple(map(int, os.uname().release.split(".")[:2])) >= (6, 11)


@pytest.fixture(name="daemon", scope="module")
def module_daemon(daemons_user):
    with daemons.Daemon(daemons_user, config={"workers": 1}) as d:
        for _ in range(2):
            assert d.post("1").json["status"] == "ok"
        yield d
        assert d.end() == 0, d.log


@pytest.fixture(name="warm")
def in_a_warm_cell(daemon):
    """Runs a job in one: the third of a kind at the latest."""
    def run(spec):
        spec = spec if isinstance(spec, dict) else {"code": spec}
        for _ in range(4):
            before = daemon.warm_counts()["jobs_warm_total"]
            answer = daemon.post({"limits": {"timeout": 60 * cells.SLOWNESS}, **spec}).json
            if daemon.warm_counts()["jobs_warm_total"] > before:
                return answer
        raise AssertionError("it was never run in a warm cell")
    return run


WELL = ["1", "print('x')", "import json; json.dumps(1)"] * 3
NOT_WELL = ["raise SystemExit(7)", "1 / 0", "open('/output/file', 'w').write('x')", "import os; os._exit(0)"]


def test_only_programs_that_end_well_and_leave_no_file_are_answered_early(user):
    with daemons.Daemon(user, config={"workers": 1}) as d:
        def settled():
            now = d.warm_counts()
            return now if now['warm_cells_ended_total{why="used"}'] == now["jobs_warm_total"] == begun else None
        for _ in range(2):
            d.post("1")
        for begun in range(1, len(NOT_WELL) + 1):
            d.post(NOT_WELL[begun - 1])
            cells.wait_until("a worker that has told", settled)
        assert d.warm_counts()["warm_cells_early_total"] == 0
        for begun in range(begun + 1, begun + 1 + len(WELL)):
            d.post(WELL[begun - len(NOT_WELL) - 1])
            cells.wait_until("a worker that has told", settled)
        early = d.warm_counts()["warm_cells_early_total"]
        assert 0 < early <= len(WELL) if TELLS else early == 0  # the memory of some is small, and gone at once
        assert d.end() == 0


@pytest.mark.parametrize(("code", "status", "exit_status"), [
    ("print('last')", "ok", 0), ("print('last'); raise SystemExit(7)", "error", 7), ("print('last'); 1 / 0", "error", 1)])
def test_how_a_program_ended_is_what_the_kernel_says(warm, code, status, exit_status):
    m = warm(code)
    assert (m["status"], m["process"]["exit"], m["stdout"]["text"]) == (status, exit_status, "last\n")


@pytest.mark.parametrize("code", ["import os; os._exit(0)", "import os; os.close(3); os._exit(0)"])
def test_a_program_that_ends_its_process_itself_has_not_ended_well(warm, code):
    m = warm({"code": code, "policy": "none"})
    assert m["status"] == "error" and "early" in m["reason"]


def test_the_most_memory_is_known_though_it_is_given_back(warm):
    m = warm("b = bytearray(200 << 20)\nfor i in range(0, len(b), 4096): b[i] = 1")
    assert m["status"] == "ok" and m["usage"]["memory_peak"] > 200 << 20


def test_processor_time_is_counted(warm):
    m = warm("import time\nbegun = time.process_time()\nwhile time.process_time() < begun + 0.3: pass")
    assert m["usage"]["cpu_user"] + m["usage"]["cpu_system"] >= 0.3


THREAD = """
import threading
def work():
    while True:
        {}
threading.Thread(target=work, daemon=True).start()
import time
time.sleep(0.05)
"""


def test_a_thread_that_prints_to_the_end_is_heard_to_the_end(warm):
    m = warm(THREAD.format("print('x' * 99, flush=True)"))
    text = m["stdout"]["text"]
    assert m["status"] == "ok" and len(text) > 1000 and (("x" * 99 + "\n") * (len(text) // 100 + 1)).startswith(text)


def test_a_thread_that_writes_a_file_to_the_end_has_written_what_is_handed_out(daemon, warm):
    m = warm(THREAD.format("open('/output/file', 'ab').write(b'y' * 9999)"))
    [file] = m["files"]
    content = daemon.get(f"/v1/jobs/{m['job_id']}/files/{file['path']}").body
    assert m["status"] == "ok" and hashlib.sha256(content).hexdigest() == file["sha256"] and len(content) == file["bytes"]


def test_nothing_of_many_jobs_is_left(daemon, warm):
    for i in range(20):
        assert warm(f"{i}")["guest"]["value"]["application/json"] == i
    cells.wait_until("the end of all cells but those of the interpreters, and one of each that waits",
                     lambda: len(daemon.descendants_named("hotcell-init")) == 2 * len(daemon.zygotes()) > 0)


def test_a_report_that_a_program_forges_is_its_own_affair(warm):
    """Told early, it ends nothing: the cell is what is waited for."""
    head = base64.b64encode(bytes([5, 1, 0, 0, 2, 0, 0, 0]) + b"{}").decode()
    m = warm({"policy": "none", "code": f"import base64, os, time\nos.write(3, base64.b64decode('{head}'))\n"
                                      "time.sleep(0.2)\nprint('after')"})
    assert m["stdout"]["text"] == "after\n" and m["status"] != "ok" and m["usage"]["wall"] > 0.2


LARGE = {"name": "large", "extends": "default", "tree": "base", "guard": "off",
         "tools": {"large": {"command": ["/bin/sh", "-c", "sleep 0.3; printf '\"'; head -c 900000 /dev/zero | tr '\\0' x; printf '\"'"]}}}
GIVES_UP = """
import asyncio, time
async def main():
    try:
        await asyncio.wait_for(tools.large.call_async(), 0.1)
    except asyncio.TimeoutError:
        print('gave up')
asyncio.run(main())
time.sleep(1)
"""


def test_an_answer_of_a_tool_that_nobody_reads_keeps_nobody_waiting(user):
    """It is more than the channel holds."""
    directory = cells.new_directory(user)
    (directory / "large.json").write_text(json.dumps(LARGE))
    with daemons.Daemon(user, config={"workers": 1}, env={"HOTCELL_POLICIES": str(directory)}) as d:
        for _ in range(3):
            m = d.post({"code": GIVES_UP, "policy": "large", "limits": {"timeout": 20 * cells.SLOWNESS}}).json
            assert (m["status"], m["stdout"]["text"]) == ("ok", "gave up\n"), m["reason"]
        assert d.warm_counts()["jobs_warm_total"] == 1
        assert d.end() == 0
