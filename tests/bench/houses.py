"""A hotcelld for measurements: with the daemon's own defaults but for its number of workers, which is that of processors, and quotas."""

import contextlib
import json
import os
import time

import cells
import daemons
import load
from bench.engine import Failed

CONFIG = {"workers": os.cpu_count(), "quotas": {"queued": 1000, "running": 64}, "http": {"tenant_connections": 100}}
MAY_LACK = {"cgroup"}


def counted(d, prefix):
    text = d.get("/metrics").body.decode()
    return sum(float(line.rpartition(" ")[2]) for line in text.splitlines() if line.startswith(f"hotcell_{prefix}"))


def await_cells(d):
    cells.wait_until("cells that wait", lambda: counted(d, "warm_cells ") >= CONFIG["workers"])


@contextlib.contextmanager
def ready(spec, environment=None):
    """A daemon all workers of which have a cell that waits for such jobs."""
    with daemons.Daemon(config=CONFIG, env=environment) as d:
        with load.Crowd(d.socket, load.request(spec), CONFIG["workers"]) as crowd:
            while counted(d, "warm_zygotes ") < CONFIG["workers"]:
                crowd.run(CONFIG["workers"] * 4)
                time.sleep(0.1)
            crowd.run(CONFIG["workers"] * 10)
        await_cells(d)
        yield d
        if d.end() != 0:
            raise Failed(f"hotcelld: {d.log}")


def check(answers):
    """Each ended well, with every layer that this host has."""
    for answer in answers:
        manifest = json.loads(answer)
        if manifest["status"] != "ok":
            raise Failed(f"a job ended as {manifest['status']}: {manifest['reason']}")
        missing = [layer for layer, row in manifest["layers"].items() if not row["on"] and layer not in MAY_LACK]
        if missing or len(manifest["layers"]) < 15:
            raise Failed(f"a cell was without {', '.join(missing) or 'layers'}")
