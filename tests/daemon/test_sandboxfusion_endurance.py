"""SandboxFusion's dialect under more than a daemon takes: 64 programs at a time, and every verdict the right one.

A quarter of a minute; with HOTCELL_LONG=full an hour, and with HOTCELL_LONG=SECONDS as long as that.
"""

import os

import verdicts

LONG = os.environ.get("HOTCELL_LONG", "")
SECONDS = 3600 if LONG == "full" else int(LONG) if LONG.isdigit() and int(LONG) > 15 else 15


def test_verdicts_are_right_when_more_comes_than_is_taken():
    with verdicts.serve() as d:
        told = verdicts.Crowd(d.socket, 64).run(SECONDS)
    print(told)
    assert not told.wrong, str(told)
    assert set(told.right) == set(verdicts.KINDS), str(told)  # there was one of each
    assert told.waited > verdicts.OWN_TIME, str(told)  # waiting takes nothing of a program's own time
    assert sum(told.later.values()), str(told)  # it was too much, and that was said
