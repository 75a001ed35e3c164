"""Whatever fails in the launcher or in the cell before the program runs: it ends in time, as hotcell(1) promises, with
one line that says what failed; it never does less than was asked and calls that well; and nothing is left.

Every call that is made is made to fail once, and once is where the process is killed. With HOTCELL_LONG=deep it fails each
time that it is made, which takes some minutes; with HOTCELL_LONG=full, each time with each error that its man page gives.
"""

import pytest

import cells
import faults
from leftovers import Host

GUARD = "off"  # the kernel holds without it
SLICES = 4 if faults.LONG else 1  # to be run side by side


@pytest.fixture
def host(user):
    return Host(user)


def sweep(host, process, choose, part):
    names, sound = faults.calls(host, process)
    chosen = choose(process, names)[part::SLICES]
    assert len(chosen) > 10
    wrong = []
    for fault in chosen:
        wrong += faults.inject(host, process, fault, sound)
        if not fault.error:
            cells.wait_until(f"{fault}: processes are left", lambda: not host.processes() - host.before)
            cells.wait_until(f"{fault}: a uid is held", lambda: not host.held_uids())
        elif host.processes() - host.before or host.held_uids():
            wrong.append(f"{fault}: left {host.processes() - host.before}, uids {host.held_uids()}")
    assert not wrong, "\n".join(wrong)
    assert cells.hotcell("clean", user=host.user, env=host.env).returncode == 0
    assert host.cgroups() == [] and host.mount_points() == host.mounts
    assert {path for path in host.state_files() - host.state if path.is_file()} == set()


@pytest.mark.parametrize("part", range(SLICES))
@pytest.mark.parametrize("process", [faults.LAUNCHER, faults.FIRST, faults.INTERPRETER],
                         ids=["launcher", "first process", "interpreter"])
def test_a_call_that_fails(host, process, part):
    sweep(host, process, faults.errors, part)


@pytest.mark.parametrize("part", range(SLICES))
@pytest.mark.parametrize("process", [faults.LAUNCHER, faults.FIRST], ids=["launcher", "first process"])
def test_a_kill_at_a_call(host, process, part):
    sweep(host, process, faults.kills, part)


@pytest.mark.parametrize("part", range(SLICES))
def test_an_allocation_that_fails(host, part):
    count, sound = faults.out_of_memory(host)
    step = {"": 97, "full": 1}.get(faults.LONG, 13)
    wrong = []
    for at in range(1 + part * step, count + 1, step * SLICES):
        _, result = faults.out_of_memory(host, at)
        wrong += [f"allocation {at}: {what}" for what in faults.complaints(faults.LAUNCHER, result, sound)]
        if result.status not in (0, 70) and (result.status, "Cannot allocate memory" in result.stderr) != (69, True):
            wrong.append(f"allocation {at}: exit status {result.status}, {result.stderr!r}")
        if host.processes() - host.before or host.held_uids():
            wrong.append(f"allocation {at}: left {host.processes() - host.before}, uids {host.held_uids()}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_output_that_finds_no_room_is_said_and_is_no_success(host, stream):
    with open("/dev/full", "wb") as full:
        with host.start(f"import sys\nprint('lost', file=sys.{stream})\nopen('kept', 'w').close()",
                        popen={stream: full}) as job:
            result = job.finish()
            assert (result.status, result.files()) == (70, ["kept"]), result
            assert result.manifest["status"] == "ok" and result.manifest[stream]["text"] == "lost\n"
            if stream == "stdout":
                assert result.stderr == "hotcell: standard output could not be passed on: No space left on device\n"
            host.check(job)
