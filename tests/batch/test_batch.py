"""hotcell batch: many programs, one a line; what came of each, whatever became of the batch itself."""

import collections
import contextlib
import json
import os
import pty
import random
import re
import resource
import signal
import subprocess
import termios
from pathlib import Path

import pytest

import cells
import daemons

BOUNDS = ["--timeout", f"{20 * cells.SLOWNESS:g}s", "--memory", cells.BOUNDS["--memory"]]


class Batch:
    """A directory with a file of jobs, and what is made of them in "out"."""

    def __init__(self, *jobs, user=None, tree=None):
        self.user = user or cells.caller()
        self.tree = tree or cells.tree_path("base")
        self.folder = cells.new_directory(self.user)
        self.out = self.folder / "out"
        self.jobs = self.folder / "jobs.jsonl"
        self.write(*jobs)

    def write(self, *jobs):
        """Each a program, a spec, or a line as it is."""
        lines = [job if isinstance(job, bytes) else json.dumps({"code": job} if isinstance(job, str) else job).encode()
                 for job in jobs]
        self.jobs.write_bytes(b"".join(line + b"\n" for line in lines))

    def command(self, *options, jobs=None):
        return [cells.HOTCELL, "batch", "-o", str(self.out), "-t", self.tree, *BOUNDS, *options, str(jobs or self.jobs)]

    def arguments(self, env=None):
        return {"cwd": self.folder, "env": {**self.user.environment(), **(env or {})}, **self.user.popen_arguments()}

    def run(self, *options, jobs=None, env=None, **more):
        return subprocess.run(self.command(*options, jobs=jobs), **{
            "capture_output": True, "text": True, "check": False, "stdin": subprocess.DEVNULL, "timeout": cells.PATIENCE,
            **self.arguments(env), **more})

    def start(self, *options):
        return subprocess.Popen(self.command(*options), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True, **self.arguments())

    def results(self):
        text = (self.out / "results.jsonl").read_text()
        assert not text or text.endswith("\n")
        return [json.loads(line) for line in text.splitlines()]

    def statuses(self):
        found = {result["line"]: result["status"] for result in self.results()}
        assert len(found) == len(self.results()), "a line has two results"
        return found

    def journal(self):
        path = self.out / "journal.jsonl"
        lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
        return [json.loads(line) for line in lines]

    def started(self):
        return [entry["start"] for entry in self.journal() if "start" in entry]

    def summary(self):
        return json.loads((self.out / "summary.json").read_text())


def children(pid):
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:  # it has ended
        return []


def blocked(pid):
    """Its signals that are."""
    return int(re.search(r"SigBlk:\s*(\w+)", Path(f"/proc/{pid}/status").read_text())[1], 16)


def command_name(pid):
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return None


def descendants(pid):
    found, queue = [], [pid]
    while queue:
        new = children(queue.pop())
        found += new
        queue += new
    return found


# ---- results ----

def test_each_line_has_a_result():
    b = Batch("print(6 * 7)", {"code": "open('f.txt', 'w').write('kept')", "job_id": "keeps"}, b"", "1 / 0", "import socket; socket",
              {"code": "while True: pass", "limits": {"timeout": "1s"}})
    done = b.run("--timeout", f"{cells.SLOWNESS:g}s")
    assert done.returncode == 3, b.results()
    assert b.statuses() == {1: "ok", 2: "ok", 4: "error", 5: "rejected", 6: "timeout"}
    by_line = {result["line"]: result for result in b.results()}
    assert by_line[1]["manifest"]["stdout"]["text"] == "42\n"
    assert by_line[1]["output_dir"] is None
    assert by_line[2]["output_dir"] == "jobs/keeps"
    assert (b.out / "jobs" / "keeps" / "f.txt").read_text() == "kept"
    assert json.loads((b.out / "jobs" / "keeps" / "manifest.json").read_text()) == by_line[2]["manifest"]
    assert os.listdir(b.out / "jobs") == ["keeps"]
    assert [by_line[n]["exit_code"] for n in (1, 2, 4, 5, 6)] == [0, 0, 1, 2, 3]
    assert all(result["manifest"]["job_id"] == result["job_id"] for result in b.results())


def test_the_summary_counts_them():
    b = Batch("print(1)", "print(2)", "1 / 0", b"nonsense")
    done = b.run()
    assert done.returncode == 65, done
    summary = b.summary()
    assert {name: n for name, n in summary["statuses"].items() if n} == {"ok": 2, "error": 1, "invalid": 1}
    assert (summary["ended"], summary["lines"], summary["complete"], summary["exit_code"]) == (4, 4, True, 65)
    assert 0 < summary["job_wall"]["p50"] <= summary["job_wall"]["p99"]
    assert "in this run" in done.stderr and "invalid          1" in done.stderr


def test_the_summary_says_which_line_is_invalid_and_why():
    done = Batch("print(1)", {"code": "1", "cod": 2}, "print(3)").run()
    assert re.search(r"^ +invalid +1\n +at line +2: \S+jobs\.jsonl:2:\d+: unknown member 'cod'", done.stderr, re.M), done
    b = Batch("print(1)", b"nonsense", "print(3)", b"?", {"code": "1", "policy": "no\x1bsuch"})
    for more in ((), ("--resume",)):
        done = b.run("--jobs", "2", *more)
        assert re.search(r"^ +invalid +3\n +first at line +2: \S+jobs\.jsonl:2:1: expected a JSON value", done.stderr, re.M), done
    done = Batch({"code": "1", "policy": "no\x1b[31msuch"}).run()
    assert re.search(r"^ +at line +1: there is no policy 'no", done.stderr, re.M) and "\x1b" not in done.stderr, done


def test_the_summary_says_which_line_failed_to_launch_first_and_why():
    """Of a daemon that takes no jobs, as one that is drained."""
    config = {"socket": {"mode": "0666"}, "tenants": {"all": {"uids": [cells.caller().uid]}}}
    with daemons.Daemon(config=config) as d:
        assert d.request("POST", "/v1/admin/drain", b"").status == 200
        os.chmod(d.directory, 0o755)
        b = Batch("print(1)", "print(2)", tree="base")
        done = b.run("--jobs", "1", "--warm", env={"HOTCELL_SOCKET": str(d.socket)})
        assert set(b.statuses().values()) == {"launch_failed"}, done
        assert re.search(r"^ +launch_failed +2\n +first at line +1: .*drained", done.stderr, re.M), done


def test_a_daemon_that_takes_no_jobs_is_asked_again_after_a_while():
    config = {"socket": {"mode": "0666"}, "tenants": {"all": {"uids": [cells.caller().uid]}}}
    with daemons.Daemon(config=config) as d:
        assert d.request("POST", "/v1/admin/drain", b"").status == 200
        os.chmod(d.directory, 0o755)
        b = Batch("print(1)", tree="base")
        process = subprocess.Popen(b.command("--jobs", "1", "--warm", "--retry", "60"), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   **b.arguments({"HOTCELL_SOCKET": str(d.socket)}))
        journal = b.out / "journal.jsonl"
        cells.wait_until("a second attempt", lambda: journal.exists() and '"attempt": 2' in journal.read_text())
        assert d.request("POST", "/v1/admin/resume", b"").status == 200
        assert process.wait(cells.PATIENCE) == 0, process.stderr.read()
        process.stderr.close()
        assert b.statuses() == {1: "ok"} and 1 < b.results()[0]["attempts"] < 60


def test_jobs_run_in_warm_cells():
    b = Batch("print(1)", "while True: pass")
    process = b.start("--jobs", "1", "--timeout", "600s")
    cells.wait_until("the second job", lambda: b.started() == [1, 2])
    zygotes = [pid for pid in descendants(process.pid) if command_name(pid) == "hotcell-zygote"]
    assert len(zygotes) == 1
    cells.wait_until("its cell, which is a copy", lambda: descendants(zygotes[0]))
    others = set(descendants(process.pid)) - set(descendants(zygotes[0])) - {zygotes[0]}
    process.kill()
    process.communicate()
    assert len(others) <= 3, "a syncer, a worker, and the cell that the zygote is in"


@pytest.mark.parametrize("line, message", [
    (b'{"code": "1", "cod": 2}', "jobs.jsonl:2:15: unknown member 'cod'"),
    (b"nonsense", "jobs.jsonl:2:1: expected a JSON value"),
    (b'{"job_id": "../../etc", "code": "1"}', "jobs.jsonl:2:12: job_id: expected 1 to 64 letters"),
    (b'{"job_id": ".", "code": "1"}', "jobs.jsonl:2:12: job_id: expected 1 to 64 letters"),
    (b'{"job_id": "same", "code": "2"}', "jobs.jsonl:2: the job_id 'same' is that of line 1"),
    (b'{"code": "1"}{"code": "2"}', "jobs.jsonl:2:14: "),
    (b"\x00\xff", "jobs.jsonl:2:2: not UTF-8"),
    (b'{"code": "1", "policy": "no-such-policy"}', "there is no policy 'no-such-policy'"),
])
def test_a_line_that_is_no_job_is_said_with_its_place(line, message):
    b = Batch({"code": "print(1)", "job_id": "same"}, line, "print(3)")
    assert b.run().returncode in (65, 78)
    assert b.statuses() == {1: "ok", 2: "invalid", 3: "ok"}
    reason = next(result["reason"] for result in b.results() if result["line"] == 2)
    assert message in reason, reason


def test_what_is_wrong_with_a_job_is_not_put_down_to_its_cell():
    b = Batch(*["print(1)"] * 4, {"code": "1", "inputs": {"df": "missing.csv"}}, {"code": "1", "output_dir": "/proc/nowhere/x"})
    done = b.run("--jobs", "1")
    by_line = {result["line"]: result for result in b.results()}
    assert by_line[5]["status"] == by_line[6]["status"] == "launch_failed"
    assert by_line[5]["reason"] == "input 'df': missing.csv: No such file or directory" and by_line[5]["exit_code"] == 65
    assert "warm cell" not in done.stderr, done.stderr


def test_jobs_come_from_a_pipe_as_they_are_written():
    b = Batch()
    process = subprocess.Popen(b.command("--json", jobs="-"), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, **b.arguments())
    for i in range(3):
        process.stdin.write(json.dumps({"code": f"print({i})"}).encode() + b"\n")
        process.stdin.flush()
        result = json.loads(process.stdout.readline())
        assert (result["line"], result["manifest"]["stdout"]["text"]) == (i + 1, f"{i}\n")
    process.stdin.close()
    assert process.wait(cells.PATIENCE) == 0
    process.stdout.close()


def test_a_named_pipe_is_waited_for_until_a_signal():
    b = Batch()
    b.jobs.unlink()
    os.mkfifo(b.jobs, 0o644)
    with b.start() as process:
        b.jobs.write_text('{"code": "print(1)"}\n')
        assert process.wait(cells.PATIENCE) == 0
    assert b.statuses() == {1: "ok"}
    b.out = b.folder / "another"
    with b.start() as process:
        try:
            cells.wait_until("it takes signals", lambda: blocked(process.pid) & 1 << signal.SIGTERM - 1)
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=cells.PATIENCE)
        finally:
            process.kill()
    assert process.returncode == -signal.SIGTERM


def test_ordered_results_come_in_the_order_of_lines():
    b = Batch("import time; time.sleep(0.5)", *[f"print({i})" for i in range(8)], b"", "1 / 0")
    done = b.run("--ordered", "--json", "--jobs", "2")
    assert done.returncode == 1
    assert [result["line"] for result in b.results()] == [*range(1, 10), 11]
    assert [json.loads(line) for line in done.stdout.splitlines()] == b.results()
    assert [entry["end"] for entry in b.journal() if "end" in entry] != [*range(1, 10), 11], "none had to wait"


def test_a_directory_that_has_a_batch_is_not_taken_for_another():
    b = Batch("print(1)")
    assert b.run().returncode == 0
    before = (b.out / "results.jsonl").read_bytes()
    done = b.run()
    assert done.returncode == 65 and "--resume goes on with it" in done.stderr
    assert (b.out / "results.jsonl").read_bytes() == before


@pytest.mark.parametrize("options, message", [
    (["--shard", "0/3"], "K/N"), (["--shard", "4/3"], "K/N"), (["--shard", "3"], "K/N"), (["--shard", "1/999999999999"], "K/N"),
    (["--jobs", "0"], "from 1 to 256"), (["--rerun", "ok"], "--resume"), (["--resume", "--rerun", "okay"], "statuses of results"),
    (["--resume", "--ordered", "--rerun", "ok"], "--ordered"), (["--max-failures", "x"], "expected a number"),
    (["--input", "a=b"], "unknown option"),
])
def test_options_that_make_no_sense_are_refused(options, message):
    b = Batch("print(1)")
    done = b.run(*options)
    assert done.returncode == 64 and message in done.stderr, done
    assert not b.out.exists()


def test_a_policy_for_all_jobs_is_looked_at_first():
    b = Batch("print(1)")
    done = b.run("-p", "no-such-policy")
    assert done.returncode == 78 and not b.out.exists()


def test_a_tree_for_all_jobs_is_looked_at_first():
    b = Batch("print(1)")
    done = b.run("-t", "no-such-tree")
    assert done.returncode == 69 and "tree 'no-such-tree' is not built" in done.stderr, done
    assert not b.out.exists()


@pytest.mark.parametrize("columns", [200, 80, 40, 12])
def test_on_a_terminal_progress_is_one_line_that_fits(columns):
    b = Batch("import time\ntime.sleep(1)", *["print(1)"] * 5)
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    process = subprocess.Popen(b.command("--jobs", "1"), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs,
                               **b.arguments())
    os.close(theirs)
    said = b""
    with open(ours, "rb", buffering=0) as terminal, contextlib.suppress(OSError):  # EIO: nobody writes any more
        while more := terminal.read(4096):
            said += more
    assert process.wait(timeout=cells.PATIENCE) == 0
    progress = said.decode()[:said.decode().rindex("\r\x1b[K ")]
    drawn = [line for line in progress.replace("\x1b[K", "").split("\r") if line]
    assert drawn and "\n" not in progress, said
    assert max(map(len, drawn)) < columns and any("0 ended" in line for line in drawn), drawn
    assert any(line.startswith("[") for line in drawn) == (columns >= 80), drawn


# ---- ends before the end ----

def test_fail_fast_begins_no_more():
    b = Batch("1 / 0", *["print(1)"] * 50)
    done = b.run("--fail-fast", "--jobs", "1")
    assert done.returncode == 1
    assert len(b.results()) < 10 and b.summary()["why_not"] == "too many failures"
    assert b.run("--resume").returncode == 1
    assert len(b.statuses()) == 51 and b.summary()["complete"]


def test_what_was_not_begun_is_tried_again_and_nothing_else():
    spec = {"code": "print(1)", "output_dir": "/proc/nowhere"}
    b = Batch(spec, "1 / 0", {"code": "import os; os.kill(os.getpid(), 9)"})
    b.run("--retry", "2")
    attempts = {result["line"]: (result["status"], result["attempts"]) for result in b.results()}
    assert attempts[2] == ("error", 1) and attempts[3][1] == 1
    assert attempts[1][0] == "launch_failed" and attempts[1][1] == 3, attempts


def test_a_signal_lets_what_runs_end_and_begins_no_more():
    b = Batch("import time\ntime.sleep(1)", *["print(1)"] * 200)
    process = b.start("--jobs", "1")
    cells.wait_until("a job that runs", lambda: b.started() == [1])
    process.send_signal(signal.SIGINT)
    stderr = process.communicate(timeout=cells.PATIENCE)[1]
    assert process.returncode == -signal.SIGINT, stderr
    assert b.statuses() == {1: "ok"} and b.summary()["why_not"] == "interrupted"
    assert b.run("--resume").returncode == 0
    assert set(b.statuses()) == set(range(1, 202))


def test_a_reader_that_goes_away_costs_no_result():
    b = Batch("print(1)", "import time\ntime.sleep(1)", *["print(1)"] * 200)
    process = subprocess.Popen(b.command("--json", "--jobs", "2"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, **b.arguments())
    process.stdout.close()
    stderr = process.stderr.read()
    assert process.wait(timeout=cells.PATIENCE) == 70
    assert stderr.endswith("hotcell: standard output: write: Broken pipe\n"), stderr
    assert set(b.statuses().values()) == {"ok"} and len(b.results()) < 50
    assert b.summary()["why_not"] == "standard output failed"
    assert b.run("--resume").returncode == 0
    assert set(b.statuses()) == set(range(1, 203)) and set(b.statuses().values()) == {"ok"}


def test_a_second_signal_ends_what_runs():
    b = Batch("while True: pass", "print(1)")
    process = b.start("--jobs", "1", "--timeout", "600s")
    cells.wait_until("a job that runs", lambda: b.started() == [1])
    process.send_signal(signal.SIGTERM)
    assert "once more" in process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=cells.PATIENCE)
    assert process.returncode == -signal.SIGTERM
    assert b.statuses() == {1: "killed"}
    assert b.run("--resume", "--timeout", "600s").returncode == 3
    assert b.statuses() == {1: "killed", 2: "ok"}


def test_killed_at_any_point_nothing_is_lost_and_nothing_is_there_twice():
    count, chance = 120, random.Random(7)
    b = Batch(*[f"print({i})" for i in range(count)])
    for _ in range(10):
        begun = len(b.started())
        process = b.start("--resume")
        until = begun + chance.randrange(12)
        cells.wait_until("more jobs", lambda: len(b.started()) >= until or process.poll() is not None)
        process.kill()
        process.communicate()
    assert b.run("--resume").returncode in (0, 70)
    statuses = b.statuses()
    assert set(statuses) == set(range(1, count + 1))
    counts = collections.Counter(statuses.values())
    assert set(counts) <= {"ok", "outcome_unknown"} and counts["outcome_unknown"] <= 10 * os.cpu_count(), counts
    again = collections.Counter(b.started())
    assert max(again.values()) == 1, "a job was run twice unasked"
    done = b.run("--resume", "--rerun", "outcome_unknown")
    assert done.returncode == 0 and set(b.statuses().values()) == {"ok"}
    assert {result["line"] for result in b.results() if result["attempts"] == 2} == \
        {line for line, status in statuses.items() if status == "outcome_unknown"}
    assert {result["line"]: result["manifest"]["stdout"]["text"] for result in b.results()} == \
        {i + 1: f"{i}\n" for i in range(count)}


def test_killed_with_ordered_results_the_order_stays():
    b = Batch("import time; time.sleep(1)", *[f"print({i})" for i in range(40)])
    process = b.start("--ordered", "--jobs", "2")
    cells.wait_until("results that wait", lambda: sum("result" in entry for entry in b.journal()) > 5)
    process.kill()
    process.communicate()
    b.run("--ordered", "--resume")
    assert [result["line"] for result in b.results()] == list(range(1, 42))
    assert max(collections.Counter(b.started()).values()) == 1


def test_what_was_not_written_whole_is_cut_off():
    b = Batch(*["print(1)"] * 4)
    assert b.run().returncode == 0
    text, journal = (b.out / "results.jsonl").read_bytes(), (b.out / "journal.jsonl").read_bytes()
    last = text.rindex(b"\n", 0, -1) + 1
    (b.out / "results.jsonl").write_bytes(text[:last + 40])
    (b.out / "journal.jsonl").write_bytes(journal[:journal.rindex(b'{"end"') + 9])
    assert b.run("--resume").returncode == 70
    assert collections.Counter(b.statuses().values()) == {"ok": 3, "outcome_unknown": 1}


def test_other_jobs_are_not_taken_for_those_that_were_begun():
    b = Batch("print(1)", "print(2)", tree="base")
    assert b.run().returncode == 0
    b.write("print(1)", "print(2)", "print(3)")
    assert b.run("--resume").returncode == 0
    assert len(b.statuses()) == 3
    b.write("print(1)", "print(9)", "print(3)")
    done = b.run("--resume")
    assert done.returncode == 65 and "not the jobs that were begun" in done.stderr
    done = b.run("--resume", "--ordered", jobs=b.jobs)
    assert done.returncode == 65 and len(b.statuses()) == 3


def test_a_batch_goes_on_under_what_it_was_begun_under_or_says_what_is_other():
    b = Batch("print(1)", "import time; time.sleep(600)", tree="base")
    assert b.run("--timeout", "1s").returncode == 3
    begun = b.journal()[0]["under"]
    assert begun["limits"]["timeout"] == "1s" and begun["name"] == "default"
    before = (b.out / "results.jsonl").read_bytes()
    for options, message in (((), 'limits.timeout: "1s" -> '),
                             (("--timeout", "1s", "--memory", "300M", "--pids", "9"), '-> "300M", limits.pids: 64 -> 9'),
                             (("--timeout", "1s", "-p", "charts"), 'name: "default" -> "charts"'),
                             (("--timeout", "1s", "--tenant", "t"), 'tenant: not set -> "t"')):
        done = b.run("--resume", *options)
        assert done.returncode == 65 and message in done.stderr and "--resume=changed" in done.stderr, done
        assert (b.out / "results.jsonl").read_bytes() == before
    assert b.run("--resume", "--timeout", "1s").returncode == 3
    done = b.run("--resume=changed", "--rerun", "timeout", "--timeout", "2s")
    assert done.returncode == 3 and 'limits.timeout: "1s" -> "2s"' in done.stderr
    assert b.journal()[-1].get("end") == 2
    assert "another policy" not in b.run("--resume", "--timeout", "2s").stderr  # what held last is what counts
    assert b.run("--resume=later").returncode == 64


def test_what_is_other_is_cut_between_characters():
    b = Batch("print(1)", tree="base")
    assert b.run().returncode == 0
    other = b.out.parent / "other.json"
    other.write_text(json.dumps({"name": "default", "extends": "default", "builtins": {"message": 50 * "\u00e9"}}))
    done = b.run("--resume", "-p", other)
    assert done.returncode == 65 and f'-> "{19 * chr(0xe9)}...' in done.stderr, done


def test_a_journal_that_does_not_say_what_held_is_gone_on_with():
    b = Batch("print(1)", tree="base")
    assert b.run().returncode == 0
    journal = b.journal()
    del journal[0]["under"]
    (b.out / "journal.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in journal))
    assert b.run("--resume", "--timeout", "5s").returncode == 0


def test_shards_under_different_limits_are_named_when_they_are_merged():
    whole, parts = Batch("print(1)", "print(2)", tree="base"), [Batch(), Batch()]
    for k, part in enumerate(parts):
        assert part.run("--shard", f"{k + 1}/2", "--timeout", f"{k + 5}s", jobs=whole.jobs).returncode == 0
    _, done = merge(*parts)
    assert done.returncode == 0 and 'limits.timeout: "5s" -> "6s"' in done.stderr, done


def test_a_refused_resume_takes_nothing_away():
    b = Batch("1 / 0", "print(2)")
    assert b.run().returncode == 1
    b.write("1 / 1", "print(2)")
    done = b.run("--resume", "--rerun", "error")
    assert done.returncode == 65, done
    assert b.statuses() == {1: "error", 2: "ok"}
    assert sorted(os.listdir(b.out)) == ["journal.jsonl", "results.jsonl", "summary.json"]


def test_two_at_once_are_not_at_work_in_one_directory():
    b = Batch("while True: pass")
    process = b.start("--timeout", "600s")
    cells.wait_until("a job that runs", lambda: b.started() == [1])
    done = b.run("--resume")
    process.kill()
    process.communicate()
    assert done.returncode == 65 and "another hotcell batch" in done.stderr


# ---- workers ----

def test_a_worker_that_dies_costs_the_job_that_it_ran():
    b = Batch("while True: pass", "print(2)", "print(3)")
    process = b.start("--jobs", "1", "--timeout", "600s")
    cells.wait_until("a job that runs", lambda: b.started() == [1])
    cells.wait_until("its cell", lambda: any(children(pid) for pid in children(process.pid)))
    os.kill(next(pid for pid in children(process.pid) if children(pid)), signal.SIGKILL)
    process.communicate(timeout=cells.PATIENCE)
    assert process.returncode == 70
    assert b.statuses() == {1: "outcome_unknown", 2: "ok", 3: "ok"}


def test_cells_go_with_the_batch():
    b = Batch(*["while True: pass"] * 2)
    process = b.start("--jobs", "2", "--timeout", "600s")
    cells.wait_until("jobs that run", lambda: len(b.started()) == 2)
    cells.wait_until("a syncer, two workers, and cells", lambda: len(descendants(process.pid)) >= 5)
    found = descendants(process.pid)
    process.kill()
    process.communicate()
    cells.wait_until("all of them gone", lambda: not any(Path(f"/proc/{pid}/cmdline").exists() for pid in found))


# ---- by a daemon ----

def test_a_daemon_runs_the_jobs_where_there_is_one(daemons_user):
    with daemons.Daemon(daemons_user, config={"workers": 2}) as d:
        b = Batch(*[f"print({i})" for i in range(6)], {"code": "open('f', 'w').write('kept')", "job_id": "keeps"}, "1 / 0",
                  {"code": "1", "policy": "no-such-policy"}, user=d.user, tree="base")
        done = b.run(env={"HOTCELL_SOCKET": str(d.socket)})
        assert done.returncode == 78, done
        assert b.statuses() == {**{line: "ok" for line in range(1, 8)}, 8: "error", 9: "invalid"}
        by_line = {result["line"]: result for result in b.results()}
        assert by_line[3]["manifest"]["stdout"]["text"] == "2\n" and by_line[3]["output_dir"] is None
        assert by_line[7]["job_id"] == "keeps" and by_line[7]["output_dir"] == "jobs/keeps"
        assert (b.out / "jobs" / "keeps" / "f").read_text() == "kept"
        assert by_line[1]["manifest"]["tenant"] is not None, "no daemon ran it"
        assert b.summary()["usage"]["cpu"] > 0
        assert d.end() == 0, d.log


def test_without_a_daemon_that_was_asked_for_nothing_is_begun(tmp_path):
    b = Batch("print(1)", tree="base")
    env = {"HOTCELL_SOCKET": str(tmp_path / "none")}
    done = b.run("--retry", "1", env=env)
    assert done.returncode == 69 and done.stderr == f"hotcell: connect to hotcelld at {tmp_path / 'none'}: No such file or directory\n"
    assert not b.out.exists()
    assert b.run("--warm=try", env=env).returncode == 0 and b.statuses() == {1: "ok"}


# ---- what is shown ----

def test_a_terminal_has_a_bar_and_nothing_else_has_one():
    b = Batch("import time; time.sleep(1)")
    ours, theirs = os.openpty()
    process = subprocess.Popen(b.command(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs, **b.arguments())
    os.close(theirs)
    text = b""
    with open(ours, "rb", buffering=0) as terminal:
        try:
            while chunk := terminal.read(4096):
                text += chunk
        except OSError:  # the other side is gone
            pass
    assert process.wait() == 0
    assert b"\r[" in text and b"0 ended, 0 not ok" in text and b"in this run" in text
    assert "\r" not in Batch("print(1)").run().stderr


# ---- shards ----

@pytest.fixture(scope="module")
def shards():
    """A batch of eight lines, of which the fifth is blank, in three shards; one job leaves a file."""
    whole = Batch(*[f"print({i})" for i in range(4)], b"", {"code": "open('f', 'w').write('six')", "job_id": "six"}, "1 / 0", "print(8)")
    parts = []
    for k in range(1, 4):
        part = Batch(user=whole.user)
        assert part.run("--shard", f"{k}/3", jobs=whole.jobs).returncode in (0, 1)
        parts.append(part)
    return whole, parts


def merge(*parts, options=()):
    out = Batch()
    done = cells.hotcell("batch", "merge", "-o", str(out.out), *options, *[str(part.out) for part in parts])
    return out, done


def test_shards_share_the_lines_out(shards):
    whole, parts = shards
    for k, part in enumerate(parts, 1):
        assert {(line - 1) % 3 + 1 for line in part.statuses()} == {k}
        done = part.run("--resume", jobs=whole.jobs)
        assert done.returncode == 65 and f"shard {k}/3" in done.stderr
    assert sorted(line for part in parts for line in part.statuses()) == [1, 2, 3, 4, 6, 7, 8]


def test_shards_become_one_batch_in_order(shards):
    _, parts = shards
    out, done = merge(*reversed(parts))
    assert done.returncode == 1, done
    assert [result["line"] for result in out.results()] == [1, 2, 3, 4, 6, 7, 8]
    assert sorted(map(json.dumps, out.results())) == sorted(json.dumps(result) for part in parts for result in part.results())
    assert (out.out / "jobs" / "six" / "f").read_text() == "six"
    assert out.summary()["statuses"] | {"ok": 6, "error": 1} == out.summary()["statuses"]
    assert out.summary()["complete"] and out.summary()["lines"] == 8
    done = out.run("--resume")
    assert done.returncode == 65 and "merged" in done.stderr


def test_what_is_missing_or_there_twice_is_not_merged(shards):
    _, parts = shards
    out, done = merge(*parts[:2])
    assert done.returncode == 65 and "shard 3 of 3 is missing" in done.stderr
    out, done = merge(*parts, parts[1])
    assert done.returncode == 65 and re.search(r"line [28] has a result in", done.stderr)
    out, done = merge(*parts[:2], options=["--partial"])
    assert done.returncode == 1 and [result["line"] for result in out.results()] == [1, 2, 4, 7, 8]
    assert not out.summary()["complete"]


def test_a_refused_merge_leaves_nothing_behind(shards, tmp_path):
    """A directory that it made goes; of another one, its own files do."""
    _, parts = shards
    kept, taken = tmp_path / "kept", tmp_path / "taken"
    kept.mkdir()
    taken.mkdir()
    (taken / "results.jsonl").write_text("mine")
    for folder in [tmp_path / "new", kept, taken]:
        assert cells.hotcell("batch", "merge", "-o", str(folder), str(parts[0].out)).returncode == 65
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")) == ["kept", "taken", "taken/results.jsonl"]
    before = sorted(parts[0].out.iterdir())
    assert cells.hotcell("batch", "merge", "-o", str(parts[0].out), *[str(part.out) for part in parts]).returncode == 65
    assert sorted(parts[0].out.iterdir()) == before


def test_lines_that_are_missing_are_named(shards):
    _, parts = shards
    damaged = Batch()
    damaged.out.mkdir()
    for path in parts[0].out.iterdir():
        if path.is_file():
            (damaged.out / path.name).write_bytes(path.read_bytes())
    lines = (damaged.out / "results.jsonl").read_bytes().splitlines(keepends=True)
    (damaged.out / "results.jsonl").write_bytes(b"".join(line for line in lines if b'"line": 4,' not in line))
    _, done = merge(damaged, *parts[1:])
    assert done.returncode == 65 and "1 lines have no result: 4 " in done.stderr


def test_jobs_of_one_name_in_two_shards_are_not_merged():
    whole = Batch({"code": "1", "job_id": "same"}, {"code": "2", "job_id": "same"})
    parts = [Batch(), Batch()]
    for k, part in enumerate(parts, 1):
        assert part.run("--shard", f"{k}/2", jobs=whole.jobs).returncode == 0
    _, done = merge(*parts)
    assert done.returncode == 65 and "the job_id 'same' is that of lines 1 and 2" in done.stderr
    some, done = merge(*parts, options=["--partial"])
    assert done.returncode == 0 and "line 2 is left out: its job_id 'same' is that of line 1" in done.stderr
    assert some.statuses() == {1: "ok"} and some.summary()["ended"] == 1 and not some.summary()["complete"]


def test_an_unfinished_shard_is_not_merged():
    b = Batch("1 / 0", *["print(1)"] * 30)
    assert b.run("--fail-fast", "--jobs", "1").returncode == 1
    _, done = merge(b)
    assert done.returncode == 65 and "is not complete" in done.stderr
    out, done = merge(b, options=["--partial"])
    assert done.returncode == 1 and out.statuses() == b.statuses()


def test_a_link_in_what_a_shard_has_kept_is_not_followed(shards, tmp_path):
    _, parts = shards
    secret = tmp_path / "secret"
    secret.write_text("mine")
    link = parts[2].out / "jobs" / "six" / "link"
    link.symlink_to(secret)
    out, done = merge(*parts)
    link.unlink()
    assert done.returncode == 1 and not os.path.lexists(out.out / "jobs" / "six" / "link")


@pytest.mark.parametrize("arguments, message", [([], "expected -o DIR"), (["-o", "x"], "expected -o DIR"), (["--what"], "--what"),
                                                (["-o"], "value is missing")])
def test_merging_needs_to_know_what_and_where_to(arguments, message):
    done = cells.hotcell("batch", "merge", *arguments)
    assert done.returncode == 64 and message in done.stderr


# ---- hostile ----

def test_what_is_in_the_way_is_not_followed():
    b = Batch("print(1)")
    b.out.mkdir()
    target = b.folder / "target"
    target.write_text("mine")
    for name in ("journal.jsonl", "results.jsonl"):
        (b.out / name).symlink_to(target)
        assert b.run("--resume").returncode == 65
        assert target.read_text() == "mine"
        (b.out / name).unlink()
        (b.out / "journal.jsonl").unlink(missing_ok=True)


def forged(result, lines=1):
    """A directory as of a batch with one job, whose result is this, and another directory beside it."""
    b = Batch("print(1)")
    b.out.mkdir()
    first = {"version": 1, "started": "", "boot": "", "shard": 1, "shards": 1, "ordered": False, "merged": False}
    whole = {"line": 1, "job_id": "a", "status": "ok", "exit_code": 0, "reason": "", "attempts": 1, "output_dir": None, "manifest": None}
    (b.out / "journal.jsonl").write_text(json.dumps({"batch": first}) + "\n")
    (b.out / "results.jsonl").write_text(json.dumps(whole | result) + "\n")
    (b.out / "summary.json").write_text(json.dumps({"lines": lines, "complete": True}))
    (b.out / "jobs").mkdir()
    (b.folder / "other").mkdir()
    (b.folder / "other" / "planted").write_text("text")
    return b


@pytest.mark.parametrize("job_id", ["../../other", "..", ".", "/etc"])
def test_what_says_to_be_a_job_is_not_copied_from_or_to_elsewhere(job_id):
    b = forged({"job_id": job_id, "output_dir": f"jobs/{job_id}"})
    out, done = merge(b)
    assert done.returncode == 65 and "job_id: expected an ID" in done.stderr, done
    assert [path.name for path in out.folder.iterdir() if path.name not in ("out", "jobs.jsonl")] == []
    done = b.run("--resume")
    assert done.returncode == 65 and "job_id: expected an ID" in done.stderr, done


@pytest.mark.parametrize("line, lines", [(10 ** 11, 1), (8 * 10 ** 15, 1), (1, 8 * 10 ** 15)])
def test_what_says_to_be_a_far_line_costs_neither_time_nor_memory(line, lines):
    b = forged({"line": line}, lines)
    _, done = merge(b)
    assert done.returncode == 65 and re.search("lines have no result: [12], |there is no line", done.stderr), done
    out, done = merge(b, options=["--partial"])
    assert done.returncode == (0 if line < 10 ** 15 else 65) and out.out.exists() == (done.returncode == 0), done
    assert done.returncode == 65 or len(out.results()) == 1
    if line > 1:
        done = b.run("--resume", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)))
        assert done.returncode == 65 and f"results.jsonl: line {line}, which has not been begun" in done.stderr, done


@pytest.mark.parametrize("said", [1, 2, 5 * 10 ** 6])
def test_a_result_in_the_journal_is_of_the_line_that_it_stands_for(said):
    b = forged({})
    result = (b.out / "results.jsonl").read_text().replace('"line": 1,', '"line": 3,')
    (b.out / "results.jsonl").write_text("")
    journal = (b.out / "journal.jsonl").read_text().replace('"ordered": false', '"ordered": true')
    (b.out / "journal.jsonl").write_text(f'{journal}{{"end": {said}, "job_id": "a", "status": "ok", "result": {result.strip()}}}\n')
    done = b.run("--resume", "--ordered")
    assert done.returncode == 65 and f"journal.jsonl: the result of line 3 stands for line {said}" in done.stderr, done
    assert b.results() == []


def test_no_job_puts_its_results_where_the_batch_has_its_own():
    forge = "".join(f'open("/output/{name}", "w").write("forged");' for name in ("results.jsonl", "journal.jsonl", "manifest.json", "mine"))
    b = Batch({"code": "open('/output/mine', 'w').write('mine')", "job_id": "neighbour"}, {"code": forge, "output_dir": "out"},
              {"code": forge, "output_dir": "link/jobs/neighbour"}, {"code": forge, "output_dir": "beside"})
    (b.folder / "link").symlink_to("out")
    done = b.run("--jobs", "1")
    assert done.returncode == 65, done
    assert b.statuses() == {1: "ok", 2: "invalid", 3: "invalid", 4: "ok"}
    assert all("is in the directory of the batch" in result["reason"] for result in b.results()[1:3]), b.results()
    assert b.journal()[0]["batch"]["shards"] == 1 and not (b.out / "mine").exists()
    assert (b.out / "jobs" / "neighbour" / "mine").read_text() == "mine"


@pytest.mark.parametrize("name, text", [
    ("journal.jsonl", b"nonsense\n"), ("journal.jsonl", b'{"begin": 1}\n'), ("journal.jsonl", b'{"batch": {"version": 99}}\n'),
    ("results.jsonl", b"{}\n"), ("results.jsonl", b"[1,\n"), ("results.jsonl", b'{"line": 1, "status": "fine"}\n'),
])
def test_files_that_are_not_of_a_batch_are_refused_and_left(name, text):
    b = Batch("print(1)")
    assert b.run().returncode == 0
    path = b.out / name
    changed = text + path.read_bytes()
    path.write_bytes(changed)
    done = b.run("--resume")
    assert done.returncode == 65 and name in done.stderr, done
    assert path.read_bytes() == changed


def test_a_line_of_any_length_costs_no_memory():
    b = Batch()
    with b.jobs.open("wb") as file:
        file.write(b'{"code": "' + b"#" * (200 << 20) + b'"}\n{"code": "print(2)"}\n')
    shell = ["/bin/sh", "-c", 'ulimit -v 900000; exec "$@"', "sh", *b.command("--jobs", "1")]
    done = subprocess.run(shell, capture_output=True, text=True, check=False, timeout=cells.PATIENCE, **b.arguments())
    assert done.returncode == 65, done
    assert b.statuses() == {1: "invalid", 2: "ok"}
    assert "longer than 80 MB" in b.results()[0]["reason"]
