"""The warm interpreters of a hotcelld: when they are replaced or end, and what is counted of them."""

import os
import re
import signal

import cells
import daemons


def ended(kind, why):
    return f'warm_{kind}_ended_total{{why="{why}"}}'


def cold(why):
    return f'jobs_cold_total{{why="{why}"}}'


def run(d, count):
    for _ in range(count):
        assert d.post("1").json["status"] == "ok"


def test_an_interpreter_that_has_made_its_cells_is_replaced(user):
    with daemons.Daemon(user, config={"workers": 1, "warm": {"cells": 3}}) as d:
        run(d, 2)
        cells.wait_until("a cell that waits", lambda: d.warm_counts()["warm_cells"] == 1)
        first = d.zygotes()
        run(d, 9)
        cells.wait_until("the third interpreter", lambda: d.warm_counts()[ended("zygotes", "recycled")] == 3)
        cells.wait_until("a cell that waits", lambda: d.warm_counts()["warm_cells"] == 1)
        now = d.warm_counts()
        assert d.zygotes() != first and len(d.zygotes()) == now["warm_zygotes"] == 1
        assert now["warm_zygotes_started_total"] == 4 and now["warm_cells_made_total"] == 10
        assert (now["jobs_warm_total"], now[cold("new")], now[ended("cells", "used")]) == (9, 2, 9)
        assert d.end() == 0


def test_an_interpreter_that_nobody_asks_for_ends(user):
    with daemons.Daemon(user, config={"workers": 1, "warm": {"idle": "1s"}}) as d:
        run(d, 3)
        cells.wait_until("its end", lambda: d.warm_counts()[ended("zygotes", "idle")] == 1 and not d.zygotes())
        assert d.warm_counts()["warm_zygotes"] == d.warm_counts()["warm_cells"] == 0
        run(d, 2)
        assert d.warm_counts()["warm_zygotes_started_total"] == 2  # the next one: the kind of job is known
        assert d.end() == 0


def test_why_a_job_was_cold_is_counted(user):
    with daemons.Daemon(user, config={"workers": 1}) as d:
        run(d, 2)
        cells.wait_until("a cell that waits", lambda: d.warm_counts()["warm_cells"] == 1)
        assert d.post({"code": "1", "seed": 1}).json["status"] == "ok"
        [zygote] = d.zygotes()
        [waiting] = d.children(zygote)
        os.kill(waiting, signal.SIGKILL)
        cells.wait_until("its end", lambda: not d.children(zygote))
        run(d, 1)
        cells.wait_until("it is counted", lambda: d.warm_counts()[cold("died")] == 1)
        now = d.warm_counts()
        assert (now[cold("new")], now[cold("job")], now["jobs_warm_total"]) == (2, 1, 0)
        assert d.end() == 0
    with daemons.Daemon(user, config={"workers": 1, "warm": {"memory": 0}}) as d:
        run(d, 1)
        cells.wait_until("it is counted", lambda: d.warm_counts()[cold("off")] == 1)
        assert d.end() == 0
