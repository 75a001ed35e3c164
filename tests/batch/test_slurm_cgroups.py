"""Cells of Slurm's jobs where Slurm uses cgroup v2: below the job's own cgroup, within its limits. Wants all of cgroup v2, so the test machine."""

import json
from pathlib import Path

import pytest

import cells
import slurms

# Every job's, on any node.
SLICE = Path("/sys/fs/cgroup/system.slice")
LOOKS_AND_LEAVES_A_CELL = r"""#!/bin/bash
mkfifo ready
cat /proc/self/cgroup
printf '{{"code": "print(%d)"}}\n' 1 2 3 | "$HOTCELL" batch -o batch -t {tree} --enforcement cgroup --memory 64M --cpus 1 --jobs 1 -
setsid "$HOTCELL" run -t {tree} --enforcement cgroup --timeout 1h - >ready <<'END' &
import time
print("in a cell", flush=True)
time.sleep(3000)
END
head -n 1 ready
cd /sys/fs/cgroup"$(sed -n 's|^0::\(.*/job_[0-9]*\)/.*|\1|p' /proc/self/cgroup)"
cat memory.max
find . -name 'hotcell-job-*'
"""


@pytest.fixture(scope="module", autouse=True)
def slurm(base_tree):
    if not (SLICE.parent / "cgroup.controllers").exists():
        cells.machines("this machine has not all of cgroup v2")
    slurms.need()


def test_cells_are_in_their_jobs_cgroup_and_none_is_left_after_it():
    user = cells.ordinary()
    hooks = {name: slurms.SCRIPTS / path for name, path in (("Prolog", "prolog"), ("Epilog", "epilog"), ("TaskProlog", "task-prolog"))}
    with slurms.Cluster(user, cgroups=True, **hooks) as cluster:
        job = cluster.submit(LOOKS_AND_LEAVES_A_CELL.format(tree=cells.tree_path("base")), "--mem=300M", "-o", "out", "-e", "err")
        assert cluster.wait_for_end(job) == {str(job): ("COMPLETED", "n1")}
        place, ready, limit, *leaves = (cluster.shared / "out").read_text().splitlines()
        assert place.startswith(f"0::/system.slice/n1_slurmstepd.scope/job_{job}/")
        assert (ready, limit) == ("in a cell", str(300 << 20))
        assert len(leaves) == 1 and leaves[0].startswith("./hotcell/"), leaves
        results = [json.loads(line) for line in (cluster.shared / "batch" / "results.jsonl").read_text().splitlines()]
        assert [result["status"] for result in results] == ["ok"] * 3
        for result in results:
            enforced = result["manifest"]["limits"]["enforced_by"]
            assert enforced["memory"] == enforced["pids"] == enforced["cpus"] == "cgroup", enforced
        assert not list(SLICE.glob(f"*/job_{job}")), cluster.logs()
        assert not [name for name in cluster.nodes["n1"].processes().values() if name.startswith("hotcell")]
