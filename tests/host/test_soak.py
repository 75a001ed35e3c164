"""Many cells leave the host as one does: as it was. The long form is "tests/bench/run soak"."""

import pytest

import soak
from leftovers import Host


@pytest.fixture
def host(user):
    return Host(user, uids=64)


@pytest.mark.parametrize("jobs, at_once", [(100, 1), (64, 16)], ids=["in a row", "at once"])
def test_nothing_grows_with_the_number_of_cells(host, jobs, at_once):
    soak.run(host, 2)  # what is made once is there
    before = soak.look(host)
    soak.run(host, jobs, at_once)
    soak.settled(host, before, jobs)


def test_a_process_that_runs_many_jobs_holds_no_more_than_after_the_first(host):
    before = soak.look(host)
    soak.check_one_process(*soak.in_one_process(host, 100))
    soak.settled(host, before, 100)
