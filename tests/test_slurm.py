"""Slurm's jobs that run cells, on a cluster of this machine's own (slurms.py)."""

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


@pytest.fixture(scope="module", autouse=True)
def slurm(base_tree):
    slurms.need()


@pytest.fixture
def batch_user():
    user = cells.ordinary()
    cells.need_cells(user)
    return user


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
