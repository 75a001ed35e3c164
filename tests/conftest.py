"""Fixtures of the tests of whole cells, and which files of tests have which marker; see lib/cells.py."""

import os
import signal

import pytest

import cells
import probes
import rows
import slow

# ---- markers, and what counts as a failure ----

_at_an_end = []  # tests whose fixtures failed when they were taken down

# How many tests may run again after they failed, see flaky_retry.py.
SECOND_CHANCES = 5
NO_SKIP = bool(os.environ.get("HOTCELL_NO_SKIP"))

# What "make check" leaves out, and scripts/test does not: these files, each test of slow.txt, and where root runs the tests all but a
# few of those that run hotcell as an ordinary user, too.
LONG = {"test_language_escapes", "test_compatibility", "test_cpython", "test_rootfs_builder", "test_analysis_policy",
        "test_charts_policy", "test_statistics_policy", "test_notebook_policy", "test_hotcell_runner", "test_async_code_executor",
        "test_examples_of_adapters", "test_script_executor", "test_run_python", "test_run_python_tools", "test_run_python_permissions",
        "test_run_python_skills", "test_dests", "test_run_python_sessions", "test_run_python_examples",
        "test_standins", "test_python_tools", "test_figures", "test_chart_data", "test_deadline",
        "test_report_browser", "test_doctor", "test_hostile_shim", "test_all_system_calls", "test_injected_faults", "test_cgroups",
        "test_systemd_scopes", "test_soak", "test_vm", "test_bench", "test_mcp_client", "test_openapi_tools", "test_typescript", "test_daemon_chaos", "test_daemon_load",
        "test_malformed_http", "test_slurm", "test_containers", "test_flaky_retry", "test_inputs_by_name"}

SLOW = slow.listed()
ROWS = rows.rows_by_test()  # "pytest -k S1.20" runs the tests of a row
BOTH_USERS = {"test_inside", "test_past_attacks"}

# What runs in the test machine every time (scripts/test), and as whom: what needs cgroup v2 as both, the rest of what is about the
# kernel as one, because a cell takes two seconds there, and what is about systemd where that is process 1. "scripts/test
# --machine-all" is for all, as both.
MACHINE = {"test_limits": "root ordinary", "test_cgroups": "root ordinary", "test_hostile_programs": "root ordinary", "test_hostile_commands": "root ordinary",
           "test_command_limits": "root ordinary", "test_layer_matrix": "root", "test_host_memory": "root", "test_inside": "ordinary",
           "test_systemd_scopes": "systemd-root systemd-ordinary", "test_systemd_units": "systemd-root",
           "test_slurm_cgroups": "root", "test_containers": "root"}
# What shows that cells hold: "scripts/test --machine-all" runs all of it in warm cells too, every run of scripts/test what could end
# otherwise in them and is quick ("warm"); the drill is in test_warm_cells.
CONTAINED = {"test_inside", "test_denials", "test_limits", "test_past_attacks", "test_side_channels", "test_hostile_programs", "test_hostile_commands",
             "test_doctor_drill", "test_policy_system_calls", "test_directories", "test_copies", "test_written_directories",
             "test_output", "test_language_escapes", "test_host_memory", "test_memory_peaks"}
WARM = {"test_inside", "test_denials", "test_limits", "test_past_attacks", "test_stdin"}
WHO = ("systemd-" if os.path.exists("/run/systemd/system") else "") + ("root" if cells.IS_ROOT else "ordinary")
# In there nothing is skipped but for one of these reasons: the other's run has those.
MACHINE_LACKS = ["the tree scientific is not built", "is for an ordinary user" if cells.IS_ROOT else "needs root"]


def pytest_configure(config):
    # Whoever runs the tests in the background may ignore these, and what the tests start would inherit it.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line("markers", "long: not every day")
    config.addinivalue_line("markers", "machine: in the test machine too")
    config.addinivalue_line("markers", "contained: shows that cells hold")
    config.addinivalue_line("markers", "warm: in warm cells too")


# Of these, what lacks there what it reaches for (names of the network, counters of its processor), and what takes too long.
NOT_THERE = {"test_a_drill_program_reaches_something_outside", "test_a_rough_program_ends_as_it_must_and_leaves_nothing",
             "test_a_script_reaches_something_outside", "test_a_script_ends_as_it_must_and_leaves_nothing"}


def in_machine(module):
    return WHO in MACHINE.get(module, "").split()


def pytest_ignore_collect(collection_path, config):
    """Modules without a test for the machine are not even imported in it, which would take a minute there."""
    if config.option.markexpr == "machine" and collection_path.suffix == ".py" and not in_machine(collection_path.stem):
        return True
    return None


def pytest_collection_modifyitems(config, items):
    if NO_SKIP:
        leave_out_other_user(config, items)
    for item in items:
        if in_machine(item.module.__name__) and getattr(item, "originalname", "") not in NOT_THERE:
            item.add_marker("machine")
        for mark, modules in (("contained", CONTAINED), ("warm", WARM)):
            if item.module.__name__ in modules:
                item.add_marker(mark)
        if is_long(item):
            item.add_marker("long")
        item.extra_keyword_matches.update(ROWS.get(f"{item.module.__name__}::{getattr(item, 'originalname', item.name)}", ()))


def is_long(item):
    module, function = item.module.__name__, getattr(item, "originalname", item.name)
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    second_user = cells.IS_ROOT and "ordinary" in (parameters.get("user"), parameters.get("daemons_user"))
    return module in LONG or f"{module}::{function}" in SLOW or (second_user and module not in BOTH_USERS)


def pytest_collection_finish(session):
    if os.environ.get("HOTCELL_AGAIN") and len(session.items) > SECOND_CHANCES:
        pytest.exit(f"{len(session.items)} tests failed: too many for a second chance", pytest.ExitCode.TESTS_FAILED)


def leave_out_other_user(config, items):
    """The test machine is started once as root and once as a user: each run has its own half of the tests with `user`."""
    other = "ordinary" if cells.IS_ROOT else "root"
    left_out = [item for item in items if hasattr(item, "callspec") and other in (item.callspec.params.get("user"), item.callspec.params.get("daemons_user"))]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport():
    """With HOTCELL_NO_SKIP a skip is a failure, however it came about."""
    report = (yield).get_result()
    if NO_SKIP and report.skipped and not hasattr(report, "wasxfail"):
        reason = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)
        if not any(lacking in reason for lacking in MACHINE_LACKS):
            report.outcome = "failed"
            report.longrepr = f"nothing may be skipped here: {reason}"


def pytest_runtest_logreport(report):
    if report.failed and report.when == "teardown":
        _at_an_end.append(report.nodeid)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    """What a fixture finds at its end is of all its tests: the last of them alone, run again, would show nothing (flaky_retry.py)."""
    if _at_an_end and not hasattr(session.config, "workerinput"):
        session.exitstatus = pytest.ExitCode.INTERNAL_ERROR


# ---- fixtures ----

@pytest.fixture(scope="session", autouse=True)
def scratch():
    yield
    cells.remove_scratch()


@pytest.fixture(autouse=True)
def guard(request, monkeypatch):
    """A file of tests may say whether its cells have the guard: GUARD = "off" where the kernel is what is tested."""
    if hasattr(request.module, "GUARD"):
        monkeypatch.setitem(cells.BOUNDS, "--guard", request.module.GUARD)


@pytest.fixture(scope="session")
def base_tree():
    """The tree base, in the caller's state directory; built if it is missing."""
    if not cells.HOTCELL.exists():
        pytest.exit(f"{cells.HOTCELL} is missing: run make", 1)
    cells.build_tree("base")
    return cells.tree_path("base")


@pytest.fixture
def probe(monkeypatch, base_tree):
    """Launchers that the test starts find a hostile program in the shim's place, see probes.py."""
    probes.need()
    monkeypatch.setattr(cells, "HOTCELL", probes.HOTCELL)


@pytest.fixture(scope="session")
def scientific():
    """The tree scientific; building it takes half a minute, so a developer who has none skips these."""
    found = cells.hotcell("tree", "path", "scientific")
    if found.returncode:
        if not os.environ.get("CI"):
            cells.skip("the tree scientific is not built: run 'hotcell tree build scientific'")
        cells.build_tree("scientific")
    return cells.tree_path("scientific")


@pytest.fixture(scope="session")
def shell_tree():
    """The tree shell, built if it is missing: that takes five seconds."""
    cells.build_tree("shell")
    return cells.tree_path("shell")


@pytest.fixture(params=["root", "ordinary"])
def user(request, base_tree):
    """Whom hotcell is started as: both ways of making a cell."""
    return one_of_both(request.param)


@pytest.fixture(scope="module", params=["root", "ordinary"])
def daemons_user(request, base_tree):
    """Whom a daemon is started as that serves all tests of a module."""
    return one_of_both(request.param)


def one_of_both(name):
    if name == "root":
        cells.need_root()
        return cells.caller()
    found = cells.ordinary()
    cells.need_cells(found)
    return found
