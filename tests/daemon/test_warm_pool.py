"""The warm interpreters of a hotcelld: when they are replaced or end, and what is counted of them."""

import contextlib
import json
import os
import re
import signal
import time
from pathlib import Path

import pytest

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
        cells.wait_until("it is counted", lambda: d.warm_counts()[ended("cells", "died")] == 1)
        now = d.warm_counts()
        assert (now[cold("new")], now[cold("job")], now["jobs_warm_total"]) == (2, 1, 1)  # the interpreter made another cell
        assert d.end() == 0
    with daemons.Daemon(user, config={"workers": 1, "warm": {"memory": 0}}) as d:
        run(d, 1)
        cells.wait_until("it is counted", lambda: d.warm_counts()[cold("off")] == 1)
        assert d.end() == 0


NAMES = "print([name for name in ('num' + 'py', 'pan' + 'das', 'matplot' + 'lib') if name in sys.modules])"


def loaded(d, text):
    """Which libraries a program found loaded, of the policy "default" in the tree "scientific"."""
    answer = d.post({"code": f"import sys\n{NAMES}\n{text}", "tree": "scientific"}).json
    assert answer["status"] == "ok", answer
    return answer["stdout"]["text"]


def test_a_program_gets_an_interpreter_that_has_what_its_text_names(scientific, user):  # pylint: disable=unused-argument
    with daemons.Daemon(user, config={"workers": 1, "warm": {"memory": "1G"}}) as d:
        programs = {"pass": "[]\n", "import pandas": "['numpy', 'pandas']\n", "import matplotlib": "['numpy', 'pandas', 'matplotlib']\n"}
        for text in programs:
            for _ in range(3):
                loaded(d, text)
        assert {text: loaded(d, text) for text in programs} == programs
        cells.wait_until("three cells that wait", lambda: d.warm_counts()["warm_cells"] == 3)
        assert d.warm_counts()["warm_zygotes"] == 3
        assert d.end() == 0


def test_a_larger_interpreter_serves_all_where_there_is_room_for_one(scientific, user):  # pylint: disable=unused-argument
    with daemons.Daemon(user, config={"workers": 1, "warm": {"memory": "100M"}}) as d:
        for text in ("import pandas", "import matplotlib"):
            for _ in range(3):
                loaded(d, text)
        cells.wait_until("the second interpreter", lambda: d.warm_counts()[ended("zygotes", "evicted")] == 1)
        assert loaded(d, "import pandas") == "['numpy', 'pandas', 'matplotlib']\n"
        assert d.warm_counts()["warm_zygotes"] == 1
        assert d.end() == 0


def test_a_worker_keeps_no_more_interpreters_than_hotcelld_8_says_however_much_memory_there_is():
    most = int(re.search(r"A worker keeps (\d+) interpreters", daemons.SOURCE.joinpath("man", "hotcelld.8.in").read_text(encoding="utf-8"))[1])
    kinds = [{"code": "1", "limits": {"memory": f"{256 + number}M"}} for number in range(most + 1)]
    with daemons.Daemon(config={"workers": 1, "warm": {"memory": "4G"}}) as d:
        for kind in kinds:
            for _ in range(3):
                assert d.post(kind).json["status"] == "ok"
        assert d.warm_counts()["warm_zygotes"] == most
        time.sleep(10.5)  # so long is an interpreter in use after its last job
        for _ in range(3):
            d.post(kinds[-1])
        d.wait_for_line(f"gives way to another (a worker keeps {most} at most)")
        assert d.end() == 0


def test_kinds_of_jobs_that_come_in_turn_have_interpreters_for_as_many_as_a_worker_keeps():
    kinds = [{"code": "1", "limits": {"memory": f"{256 + number}M"}} for number in range(26)]
    with daemons.Daemon(config={"workers": 1, "warm": {"memory": "4G"}}) as d:
        for _ in range(4):
            for kind in kinds:
                assert d.post(kind).json["status"] == "ok"
        cells.wait_until("the last job is counted",
                         lambda: sum(count for name, count in d.warm_counts().items() if name.startswith("jobs_")) == 104)
        counts = d.warm_counts()
        # 48 where all jobs come within ten seconds; later an interpreter that was not used for so long gives way to another
        assert counts["warm_zygotes"] == 24 and counts["jobs_warm_total"] > 0, counts
        assert d.end() == 0


def test_an_interpreter_in_use_does_not_give_way_to_another(user):
    """With room for one, it would be started anew for each job of two kinds that come in turn."""
    kinds = [{"code": "1"}, {"code": "1", "limits": {"memory": "300M"}}]
    with daemons.Daemon(user, config={"workers": 1, "warm": {"memory": "12M"}}) as d:
        run(d, 3)
        cells.wait_until("a cell that waits", lambda: d.warm_counts()["warm_cells"] == 1)
        for _ in range(4):
            for kind in kinds:
                assert d.post(kind).json["status"] == "ok"
        cells.wait_until("it is counted", lambda: d.warm_counts()[cold("full")] >= 2)
        now = d.warm_counts()
        assert (now["warm_zygotes_started_total"], now[ended("zygotes", "evicted")], now["jobs_warm_total"]) == (1, 0, 5)
        assert d.end() == 0


@pytest.mark.skipif(not cells.IS_ROOT, reason="needs root, who can be two tenants")
@pytest.mark.parametrize("interpreters, count", [("shared", 1), ("apart", 2)])
def test_tenants_share_an_interpreter_unless_the_operator_forbids_it(interpreters, count):
    with daemons.Daemon(config={"workers": 1, "socket": {"mode": "0666"}, "warm": {"interpreters": interpreters}}) as d:
        for _ in range(3):
            for uid in (61601, 61602):
                assert d.post("1", uid=uid).json["status"] == "ok"
        cells.wait_until("a cell for each", lambda: d.warm_counts()["warm_cells"] == 2)
        assert d.warm_counts()["warm_zygotes"] == count
        assert d.end() == 0


def tenants_in_turn(d, count, rounds=3):
    """Each has a job in each round; what became of all of them."""
    return {d.post("1", uid=61601 + i).status for _ in range(rounds) for i in range(count)}


@pytest.mark.skipif(not cells.IS_ROOT, reason="needs root, who gives each cell a uid")
def test_an_interpreter_without_a_free_uid_goes_on_with_fewer_cells():
    """A block is an eighth of the range: of ten uids, for twice as many tenants."""
    with daemons.Daemon(config={"workers": 1, "socket": {"mode": "0666"}}, env={"HOTCELL_UID_RANGE": "2130706432:80"}) as d:
        assert tenants_in_turn(d, 20) == {200}
        now = d.warm_counts()
        assert (now["warm_zygotes_started_total"], now[ended("zygotes", "died")]) == (1, 0), now
        assert 5 < now["warm_cells"] <= 10 and now["jobs_warm_total"] > 5, now
        assert d.end() == 0


@pytest.mark.skipif(not cells.IS_ROOT, reason="needs root, who can be many tenants")
def test_waiting_cells_leave_descriptors_for_jobs():
    few = ["prlimit", "--nofile=220:220"]
    with daemons.Daemon(config={"workers": 1, "socket": {"mode": "0666"}, "http": {"connections": 8}, "queue": 8, "sessions": 1}, wrapper=few) as d:
        assert tenants_in_turn(d, 24) == {200}
        now = d.warm_counts()
        assert 5 < now["warm_cells"] < 24 and not now[ended("zygotes", "died")], now
        assert d.end() == 0


def own_memory(d):
    """KiB that each cell that waits shares with no other process: of the child of its first one."""
    found = []
    for zygote in d.zygotes():
        for first in d.children(zygote):
            for cell in d.children(first):
                with contextlib.suppress(OSError):  # it was replaced meanwhile
                    text = Path(f"/proc/{cell}/smaps_rollup").read_text(encoding="ascii")
                    found.append(int(re.search(r"^Private_Dirty: +(\d+) kB$", text, re.M)[1]))
    return sorted(found)


def test_memory_that_is_too_little_for_interpreters_with_libraries_is_told_at_the_start():
    with daemons.Daemon(config={"workers": 1, "warm": {"memory": "100M"}}) as d:
        d.wait_for_line("with libraries, 0 cells can wait: too little for most jobs with libraries (sizing: hotcelld(8), PROCESSES)")
        assert d.end() == 0


def test_how_many_cells_can_wait_is_told_for_one_tenant_where_each_has_interpreters():
    with daemons.Daemon(config={"workers": 1, "warm": {"memory": "400M", "interpreters": "apart"}}) as d:
        d.wait_for_line("warm.memory: beside the interpreters of one policy and one tenant with libraries, 116 cells can wait")
        assert d.end() == 0


@pytest.mark.skipif(not cells.IS_ROOT, reason="needs root, who can be many tenants")
@pytest.mark.usefixtures("scientific")
def test_only_some_of_many_waiting_cells_have_copied_what_jobs_write_to():
    """Those of the tenants that asked last; each has several times the memory of the others, which share it with their interpreter."""
    tenants, spec = range(61601, 61613), {"code": "import pandas", "tree": "scientific"}
    with daemons.Daemon(config={"workers": 1, "socket": {"mode": "0666"}, "warm": {"memory": "400M"}}) as d:
        cells.wait_until("the worker has told how many fit", lambda: d.warm_counts()["warm_cells_room"] == 200)
        for _ in range(3):
            for uid in tenants:
                assert d.post(spec, uid=uid).json["status"] == "ok"
        cells.wait_until("a cell for each", lambda: d.warm_counts()["warm_cells"] == len(tenants))
        cells.wait_until("one that is prepared", lambda: own_memory(d)[-1] > 4096)
        assert max(own_memory(d)[:4]) < 3072
        d.wait_for_line("warm.memory: beside the interpreters of one policy with libraries, 116 cells can wait")
        assert 0 < d.warm_counts()["warm_cells_room"] <= 200 - len(tenants)
        assert d.end() == 0


def test_the_log_says_once_why_the_sample_of_a_policy_fails(tmp_path):
    """However often its interpreter is made; in one line, without control characters."""
    sample = "raise ValueError('\\x1b[2J\\nno such thing')"
    (tmp_path / "odd.json").write_text(json.dumps({"name": "odd", "tree": "base", "warm": {"sample": sample}, "limits": {"max": daemons.WIDE}}))
    config = {"workers": 1, "warm": {"cells": 1}}
    with daemons.Daemon(config=config, env={"HOTCELL_POLICIES": str(tmp_path)}) as d:
        cells.wait_until("three interpreters", lambda: d.post({"code": "1", "policy": "odd"}).json["status"] == "ok" and
                         d.warm_counts()["warm_zygotes_started_total"] >= 3)
        d.wait_for_line('warm.sample of policy "odd" fails, so its jobs are slower: ValueError: ?[2J?no such thing (line 1)\n')
        assert d.end() == 0
    assert d.log.count("warm.sample") == 1


def test_the_log_names_the_policy_whose_interpreter_cannot_be_made(tmp_path):
    """Code that does not compile is noticed when an interpreter is wanted; jobs run in cold cells meanwhile."""
    (tmp_path / "broken.json").write_text(json.dumps({"name": "broken", "extends": "default", "warm": {"ladder": [{"code": "x ="}]},
                                                      "limits": {"max": daemons.WIDE}}))
    with daemons.Daemon(config={"workers": 1}, env={"HOTCELL_POLICIES": str(tmp_path)}) as d:
        assert [d.post({"code": "1", "policy": "broken"}).json["status"] for _ in range(2)] == ["ok"] * 2
        d.wait_for_line("no warm cells for ")
        d.wait_for_line(' under policy "broken": start a zygote: the zygote ended while it was starting: SyntaxError: invalid syntax (<warm>, line 1)\n')
        assert d.post({"code": "1", "policy": "broken"}).json["status"] == "ok"
