"""The warm interpreters of a hotcelld: when they are replaced or end, and what is counted of them."""

import os
import re
import signal

import cells
import daemons


def counted(d):
    """Every number in /metrics that is about warm cells."""
    text = d.get("/metrics", uid=d.user.uid if cells.IS_ROOT else None).body.decode()
    return {name: int(value) for name, value in re.findall(r"^hotcell_(warm_\S+|jobs_cold_\S+|jobs_warm_total) (\d+)$", text, re.M)}


def ended(kind, why):
    return f'warm_{kind}_ended_total{{why="{why}"}}'


def cold(why):
    return f'jobs_cold_total{{why="{why}"}}'


def zygotes(d):
    return d.descendants_named("hotcell-zygote")


def run(d, count):
    for _ in range(count):
        assert d.post("1").json["status"] == "ok"


def test_an_interpreter_that_has_made_its_cells_is_replaced(user):
    with daemons.Daemon(user, config={"workers": 1, "warm": {"cells": 3}}) as d:
        run(d, 2)
        cells.wait_until("a cell that waits", lambda: counted(d)["warm_cells"] == 1)
        first = zygotes(d)
        run(d, 9)
        cells.wait_until("the third interpreter", lambda: counted(d)[ended("zygotes", "recycled")] == 3)
        cells.wait_until("a cell that waits", lambda: counted(d)["warm_cells"] == 1)
        now = counted(d)
        assert zygotes(d) != first and len(zygotes(d)) == now["warm_zygotes"] == 1
        assert now["warm_zygotes_started_total"] == 4 and now["warm_cells_made_total"] == 10
        assert (now["jobs_warm_total"], now[cold("new")], now[ended("cells", "used")]) == (9, 2, 9)
        assert d.end() == 0


def test_an_interpreter_that_nobody_asks_for_ends(user):
    with daemons.Daemon(user, config={"workers": 1, "warm": {"idle": "1s"}}) as d:
        run(d, 3)
        cells.wait_until("its end", lambda: counted(d)[ended("zygotes", "idle")] == 1 and not zygotes(d))
        assert counted(d)["warm_zygotes"] == counted(d)["warm_cells"] == 0
        run(d, 2)
        assert counted(d)["warm_zygotes_started_total"] == 2  # the next one: the kind of job is known
        assert d.end() == 0


def test_why_a_job_was_cold_is_counted(user):
    with daemons.Daemon(user, config={"workers": 1}) as d:
        run(d, 2)
        cells.wait_until("a cell that waits", lambda: counted(d)["warm_cells"] == 1)
        assert d.post({"code": "1", "seed": 1}).json["status"] == "ok"
        [zygote] = zygotes(d)
        [waiting] = d.children(zygote)
        os.kill(waiting, signal.SIGKILL)
        cells.wait_until("its end", lambda: not d.children(zygote))
        run(d, 1)
        cells.wait_until("it is counted", lambda: counted(d)[cold("died")] == 1)
        now = counted(d)
        assert (now[cold("new")], now[cold("job")], now["jobs_warm_total"]) == (2, 1, 0)
        assert d.end() == 0
    with daemons.Daemon(user, config={"workers": 1, "warm": {"memory": 0}}) as d:
        run(d, 1)
        cells.wait_until("it is counted", lambda: counted(d)[cold("off")] == 1)
        assert d.end() == 0
