"""Batches that are job arrays of Slurm, and what its jobs leave on a node, on a cluster in namespaces of this machine (slurms.py)."""

import json
import os
import subprocess
from pathlib import Path

import pytest

import cells
import slurms

# Slurm follows children by their parents here: what starts a session of its own and loses its parent is out of its sight.
LOSES_A_LAUNCHER = r"""#!/bin/bash
mkfifo ready
setsid "$HOTCELL" run -t {tree} --timeout 1h - >ready <<'END' &
import time
print("in a cell", flush=True)
time.sleep(3000)
END
head -n 1 ready
"""
SLEEP = 10 * cells.SLOWNESS  # seconds: of what is to be in the middle of it when something happens


@pytest.fixture(scope="module", autouse=True)
def slurm(base_tree):
    slurms.need()


@pytest.fixture
def batch_user():
    user = cells.ordinary()
    cells.need_cells(user)
    return user


@pytest.fixture
def cluster(batch_user):
    with slurms.Cluster(batch_user) as cluster:
        yield cluster


# ---- what a job leaves on a node ----

def left_of(cluster):
    """Processes of hotcell's on the cluster's nodes."""
    return [name for node in cluster.nodes.values() for name in node.processes().values() if name.startswith("hotcell")]


@pytest.mark.parametrize("hooks", [{"Epilog": slurms.SCRIPTS / "epilog", "Prolog": slurms.SCRIPTS / "prolog"}, {}], ids=["hooks", "none"])
def test_a_launcher_that_slurm_lost_ends_in_the_epilog(hooks, batch_user):
    with slurms.Cluster(batch_user, **hooks) as cluster:
        job = cluster.submit(LOSES_A_LAUNCHER.format(tree=cells.tree_path("base")), "-o", "out")
        assert cluster.wait_for_end(job) == {str(job): ("COMPLETED", "n1")}
        assert (cluster.shared / "out").read_text() == "in a cell\n"
        assert bool(left_of(cluster)) is (not hooks), cluster.logs()
        assert "n1 idle" in cluster.run("sinfo", "-h", "-N", "-o", "%N %T").stdout  # neither has failed


# ---- batches ----

def write_jobs(folder, lines, slow=(), raises=()):
    """Each prints its number."""
    def code(line):
        return f"{f'import time; time.sleep({SLEEP}); ' if line in slow else ''}print({line}){'; 1 / 0' if line in raises else ''}"
    path = folder / "jobs.jsonl"
    path.write_text("".join(json.dumps({"code": code(line)}) + "\n" for line in range(1, lines + 1)))
    return path


def of_all_jobs():
    return ["-t", cells.tree_path("base"), "--memory", cells.BOUNDS["--memory"], "--timeout", f"{6 * SLEEP}s"]


def submit(cluster, jobs, *options):
    """The number of the array's job, and of the one that puts its results together."""
    done = cluster.run(slurms.SCRIPTS / "submit", "-o", "out", *options, jobs, *of_all_jobs())
    first, second = done.stdout.splitlines()
    assert first.startswith("shards: job ") and second == f"results: job {second.split()[2].rstrip(',')}, {cluster.shared}/out/all/results.jsonl"
    return int(first.split()[2]), int(second.split()[2].rstrip(","))


def lines_of(path):
    """Those that have been written whole."""
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]


def results_of(folder):
    return lines_of(folder / "results.jsonl")


def check_whole(folder, lines, raises=()):
    """Each line has a result, in order, and it is its own."""
    found = results_of(folder)
    assert [result["line"] for result in found] == list(range(1, lines + 1))
    assert [result["manifest"]["stdout"]["text"] for result in found] == [f"{line}\n" for line in range(1, lines + 1)]
    assert [result["status"] for result in found] == ["error" if line in raises else "ok" for line in range(1, lines + 1)]
    return found


def in_the_middle_of(shard, line):
    return any(entry.get("start") == line for entry in lines_of(shard / "journal.jsonl"))


def test_an_array_of_which_a_node_is_killed_ends_complete(cluster):
    slow = range(9, 13)  # the third line of each of four shards
    array, merge = submit(cluster, write_jobs(cluster.shared, 24, slow), "-n", "4")
    shards = {k: cluster.shared / "out" / "shards" / f"{k}-of-4" for k in range(1, 5)}
    cluster.wait("all run", lambda: [state[0] for state in cluster.states(array).values()] == ["RUNNING"] * 4)
    lost = [k for k in shards if cluster.states(array)[f"{array}_{k}"][1] == "n2"]
    cells.wait_until("those on n2 are in the middle", lambda: all(in_the_middle_of(shards[k], 8 + k) for k in lost))
    cluster.nodes["n2"].kill()
    before = {k: results_of(shards[k]) for k in lost}
    assert len(lost) == 2 and all(len(results) == 2 for results in before.values()), before
    cluster.wait_for_nodes("down*", ["n2"])
    cluster.run_again_soon(array)
    assert cluster.wait_for_end(array) == {f"{array}_{k}": ("COMPLETED", "n1") for k in shards}
    assert cluster.wait_for_end(merge) == {str(merge): ("COMPLETED", "n1")}
    results = check_whole(cluster.shared / "out" / "all", 24)
    # What had ended stays as it was; what ran when the power went is the only thing to have run twice.
    assert all(result in results for k in lost for result in before[k])
    assert [result["line"] for result in results if result["attempts"] > 1] == [8 + k for k in lost]
    logs = [(cluster.shared / "out" / "logs" / f"{k}.log").read_text() for k in shards]
    assert [f"shard {k}/4 on n1, run 2\n" in log for k, log in enumerate(logs, 1)] == [k in lost for k in shards]


def test_shards_that_are_missing_are_named_and_can_be_run_alone(cluster):
    jobs = write_jobs(cluster.shared, 12, raises=[5])
    folder = cluster.shared / "out"

    def run(array):
        job = cluster.sbatch(f"--array={array}", "-o", "log-%a", slurms.SCRIPTS / "shard", folder, jobs, *of_all_jobs(), env={"HOTCELL_SHARDS": "4"})
        assert {state[0] for state in cluster.wait_for_end(job).values()} == {"COMPLETED"}

    def merge():
        return cluster.run(slurms.SCRIPTS / "merge", folder, "4", check=False)

    run("1,3,4")
    refused = merge()
    assert refused.returncode == 65 and "2-of-4" in refused.stderr, refused
    assert not (folder / "all").exists()
    run("2")
    for _ in range(2):
        assert merge().returncode == 1  # as the batch, had it been run in one: a program raised an exception
        check_whole(folder / "all", 12, raises=[5])


def test_submit_waits_if_it_is_asked_to(cluster):
    jobs = write_jobs(cluster.shared, 4, raises=[2])
    done = cluster.run(slurms.SCRIPTS / "submit", "-w", "-n", "2", "-s", "--comment=a batch", jobs, *of_all_jobs(), check=False)
    assert done.returncode == 1, done
    check_whole(cluster.shared / "hotcell-batch" / "all", 4, raises=[2])


def test_a_directory_with_another_batch_is_refused(cluster):
    def run(lines, expected):
        jobs = write_jobs(cluster.shared, lines)
        job = cluster.sbatch("--array=1-1", "-o", "log", slurms.SCRIPTS / "shard", cluster.shared / "out", jobs, *of_all_jobs())
        assert cluster.wait_for_end(job) == {f"{job}_1": (expected, "n1")}, (cluster.shared / "log").read_text()

    run(3, "COMPLETED")
    run(5, "COMPLETED")  # more lines behind those that were there: the same batch
    before = results_of(cluster.shared / "out" / "shards" / "1-of-1")
    assert [result["line"] for result in before] == [1, 2, 3, 4, 5]
    run(2, "FAILED")
    assert results_of(cluster.shared / "out" / "shards" / "1-of-1") == before


def test_a_shard_that_is_out_of_time_goes_on_later(cluster):
    array, merge = submit(cluster, write_jobs(cluster.shared, 6, slow=[3]), "-n", "1")
    shard = cluster.shared / "out" / "shards" / "1-of-1"
    cells.wait_until("it is in the middle", lambda: in_the_middle_of(shard, 3))
    cluster.run("scancel", "--batch", "--signal=USR1", str(array))  # what Slurm does a minute before the end
    cluster.wait("it is put back", lambda: cluster.states(array)[f"{array}_1"][0] == "PENDING")
    assert [result["line"] for result in results_of(shard)] == [1, 2, 3]
    cluster.run_again_soon(array)
    assert cluster.wait_for_end(merge)[str(merge)][0] == "COMPLETED"
    assert all(result["attempts"] == 1 for result in check_whole(cluster.shared / "out" / "all", 6))


# ---- without a cluster ----

def script(name, *arguments, **env):
    return subprocess.run([slurms.SCRIPTS / name, *arguments], capture_output=True, text=True, check=False, cwd=cells.scratch(),
                          env={"PATH": os.environ["PATH"], **env})


@pytest.mark.parametrize("name, arguments, env, said", [
    ("shard", ["out"], {}, "usage: sbatch --array=1-N shard DIR JOBS.jsonl"),
    ("shard", ["out", "jobs"], {}, "not in a job array"),
    ("shard", ["out", "jobs"], {"SLURM_ARRAY_TASK_ID": "0", "SLURM_ARRAY_TASK_MIN": "0", "SLURM_ARRAY_TASK_MAX": "3", "SLURM_ARRAY_TASK_COUNT": "4"},
     "set HOTCELL_SHARDS=N"),
    ("merge", ["out"], {}, "usage: merge DIR N"),
    ("merge", ["out", "four"], {}, "usage: merge DIR N"),
    ("submit", [], {}, "no JOBS.jsonl"),
    ("submit", ["-n", "0", "jobs"], {}, "-n: expected a number of shards from 1 to 100000, got '0'"),
    ("submit", ["-x", "jobs"], {}, "unknown option -x"),
])
def test_what_is_wrong_with_a_call_is_said_in_a_line(name, arguments, env, said):
    done = script(name, *arguments, **env)
    assert done.returncode == 64 and said in done.stderr and done.stderr.count("\n") == 1, done


def test_submit_wants_a_file_that_each_shard_can_read_for_itself():
    done = script("submit", "/dev/stdin")
    assert done.returncode == 65 and done.stderr == "submit: /dev/stdin: not a file that can be read, by every shard for itself\n", done


def test_submit_hands_on_what_it_was_given(tmp_path):
    (tmp_path / "bin").mkdir()
    fake = tmp_path / "bin" / "sbatch"
    fake.write_text("#!/bin/sh\nprintf '%s\\0' \"$@\" >>\"$SEEN\"\necho 7\n")
    fake.chmod(0o755)
    odd = tmp_path / "a %j 'b\" $(touch broken) `touch broken`\n;c"
    odd.mkdir()
    (odd / "jobs").write_text("")
    options = ["--label", "a=$(touch broken) 'x\ny\" *", "%a"]
    done = script("submit", "-o", odd / "out %n", "-s", "--comment=a b;$(touch broken)", odd / "jobs", *options, SEEN=str(tmp_path / "seen"),
                  PATH=f"{fake.parent}:{os.environ['PATH']}")
    assert done.returncode == 0 and not done.stderr, done
    given = (tmp_path / "seen").read_text().split("\0")
    assert [str(odd / "out %n"), str(odd / "jobs"), *options] == given[5:10] and given[3] == "--comment=a b;$(touch broken)", given
    assert given[2] == f"--output={str(odd / 'out %n').replace('%', '%%')}/logs/%a.log", given
    assert not [path for path in (tmp_path, odd, cells.scratch()) if (path / "broken").exists()]


def test_shards_by_gnu_parallel(tmp_path):
    cells.need_program("parallel")
    jobs = write_jobs(tmp_path, 12)
    shard = [cells.HOTCELL, "batch", "--shard", "{}/4", "-o", "out/{}", "--resume", *of_all_jobs(), jobs]
    environment = {**cells.caller().environment(), "HOME": str(tmp_path)}
    ran = subprocess.run(["parallel", "--jobs", "2", "--halt", "never", *map(str, shard), ":::", "1", "2", "3", "4"], cwd=tmp_path, capture_output=True,
                         text=True, check=False, stdin=subprocess.DEVNULL, env=environment)
    assert ran.returncode == 0, ran.stderr
    merged = cells.hotcell("batch", "merge", "-o", "all", *[f"out/{k}" for k in range(1, 5)], cwd=tmp_path)
    assert merged.returncode == 0, merged.stderr
    check_whole(tmp_path / "all", 12)
