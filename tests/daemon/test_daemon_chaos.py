"""Everything that a hotcelld consists of is killed while it works: every promise is kept, or its end honestly unknown, and nothing is
left. The long form is "tests/bench/run chaos"."""

import chaos


def test_whatever_is_killed_promises_are_kept_once_and_nothing_is_left(user):
    with chaos.Chaos(user, seed=5) as house:
        house.run(5)
