"""Processes of a busy hotcelld are killed at random: is every job accounted for, once, and is anything left? A failure if a job was run
twice, was lost or is told wrongly, or if anything is left; see tests/lib/chaos.py."""

import os

import cells
import chaos
from bench.engine import Failed

NAME = "chaos"
TITLE = "Processes of a daemon killed at random"
LONG = True


def one(bench, user):
    seed = bench.asked.seed if bench.asked.seed is not None else int.from_bytes(os.urandom(2))
    who = "root" if user.is_root else "an ordinary user"
    bench.say(f"chaos: {who}, seed {seed}")
    try:
        with chaos.Chaos(user, seed) as house:
            found = house.run(bench.asked.seconds)
    except AssertionError as wrong:
        raise Failed(f"{who}, seed {seed}: {wrong}") from wrong
    rows = [{"kind": "killed", "what": name, "count": count} for name, count in sorted(found["killed"].items())]
    rows += [{"kind": "ended as", "what": name, "count": count} for name, count in sorted(found["ends"].items())]
    return bench.table(f"as {who}", rows, about=f"Seed {seed}: {found['jobs']} jobs, of which {found['marks']} ran; killed and started "
                       f"again: ready after {max(found['ready'], default=0):.2f} s at most.")


def measure(bench):
    users = {user.uid: user for user in (cells.caller(), cells.ordinary())}
    return [one(bench, user) for user in users.values()]
