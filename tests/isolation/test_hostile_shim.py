"""The control channel with a hostile peer: tests/probe in the shim's place, as the cell's first process or as its interpreter.

Whatever it sends or does not send: the launcher ends in time and with little memory, with one manifest of the right shape, the
status that the case says, and nothing left behind.
"""

import errno
import json
import os
import re
import select
import signal
import time
from pathlib import Path

import jsonschema
import pytest

import cells
import probes
from probes import CHECKED, DENIAL, ENDED, FILTERED, FILTERS, GO, LOCKED, READY, REJECTED, REPORT, RUN, RUNNING, STARTED
from leftovers import Host

GUARD = "off"  # there is no interpreter

SCHEMA = jsonschema.Draft202012Validator(
    cells.generated("manifest.schema.json"))
EXIT = {"ok": 0, "error": 1, "rejected": 2, "timeout": 3, "killed": 3, "output": 3, "launch_failed": 70}
MEMORY_MB = 48  # the peak of any launcher here, two thirds of it a report that is nearly too large

SHORT = "--timeout=0.4"
WAITS = "sleep 100000"  # so that what was said is read, and ends with SHORT
EARLY = "ended its process early"
NO_START = "did not start|ended before its layers|ended while it was being built"  # of a process that is gone at once
OUT_OF_TURN = "out of turn"
UNUSABLE = "cannot be used"
TOLD = '{"layer": "audit", "rule": "files", "what": "w", "line": 1, "count": 1, "hint": null}'
FINDING = '{"rule": "x", "message": "forged", "line": 1, "column": 1, "end_column": 2, "hint": null}'
FOUND = '{"warnings": [], "columns": {}}'
COMPLETE = '"exit": 0, "complete": true}'


def report(text):
    return [*RUNNING, f"text {REPORT} {text}", "exit 0"]


def report_bytes(data):
    return [*RUNNING, f"hex {REPORT} 1 {data.hex()}", "exit 0"]


# As the cell's first process, without a shim that waits for it.
ALONE = [*FILTERS, f"frame {READY}", "await", f"frame {RUN}", ENDED[0]]

# name: (script, status, what the reason says or None, what a warning says or None, options)
CASES = {
    # ---- what a right one looks like, for comparison ----
    "well behaved": (RUNNING + ENDED, "ok", None, None),
    "well behaved, a byte a packet": ([*RUNNING, *(f"hex {REPORT} {int(i == len(COMPLETE))} {byte:02x}"
                                                   for i, byte in enumerate(b"{" + COMPLETE.encode())), "exit 0"], "ok", None, None),

    # ---- before READY ----
    "ends at once": (["exit 0"], "launch_failed", None, None),
    "ends at once, under the shim": (["shim", "exit 0"], "launch_failed", NO_START, None),
    "says how it ended, and nothing else": (["status 1 0", "exit 0"], "launch_failed", None, None),
    "garbage": ([*LOCKED, "raw ffffff", f"frame {READY}", "await"], "launch_failed", NO_START, "3 bytes are too few"),
    "an empty packet": ([*LOCKED, "raw ", f"frame {READY}", "await"], "launch_failed", NO_START, "0 bytes are too few"),
    "another protocol's packet": ([*LOCKED, "raw 474554202f20485454502f312e300d0a0d0a", "await"], "launch_failed", NO_START,
                                  "unknown type 71"),
    "RUN": ([*LOCKED, f"frame {RUN}", f"frame {READY}", "await"], "launch_failed", NO_START, OUT_OF_TURN),
    "REPORT": ([*LOCKED, ENDED[0], "await"], "launch_failed", NO_START, OUT_OF_TURN),
    "a denial": ([*LOCKED, f"text {DENIAL} {TOLD}", "await"], "launch_failed", NO_START, OUT_OF_TURN),
    "GO, as if it were the launcher": ([*LOCKED, f"frame {GO}", "await"], "launch_failed", NO_START, OUT_OF_TURN),
    "never READY": (["shim", "sleep 100000"], "timeout", "limits.timeout", None, SHORT),
    "never READY, as the first process": (["spin"], "timeout", "limits.timeout", None, SHORT),
    "closes the channel": ([*LOCKED, "close 3", "sleep 100000"], "timeout", "limits.timeout", None, SHORT),
    "closes every descriptor": (["shim", *(f"close {fd}" for fd in range(6)), "sleep 100000"], "timeout", None, None, SHORT),
    "hangs up": ([*LOCKED, "shutdown 3", "sleep 100000"], "timeout", "limits.timeout", None, SHORT),
    "bytes that are no text on standard error": (["shim", "sleep 20", "write 2 fffe1b5d303b780762", "exit 70"], "launch_failed", NO_START,
                                                 None),
    "more on standard error than a reason holds": (["shim", "sleep 20", "write 2 " + "é".encode().hex() * 4000, "exit 70"],
                                                   "launch_failed", NO_START, None),
    "a fault in the first process": (["sleep 20", "fault"], "launch_failed", NO_START, None),
    "a flood": (["shim", "flood 1"], "timeout", None, None, SHORT),

    # ---- without the filters ----
    "READY without filters": (["shim", f"frame {READY}", "await"], "launch_failed", "filters are not on", None, None, 69),
    "READY with one of two filters": (["shim", "report", f"frame {READY}", "await"], "launch_failed", "filters are not on", None, None, 69),
    "READY with one filter too many": (["shim", "allow", *FILTERS, f"frame {READY}", "await"], "launch_failed",
                                       "filters are not on", None, None, 69),

    # ---- READY and GO ----
    "READY twice": ([*STARTED, f"frame {READY}", "sleep 20", "exit 0"], "error", EARLY, OUT_OF_TURN),
    "READY again while it runs": ([*RUNNING, f"frame {READY}", *ENDED], "error", EARLY, OUT_OF_TURN),
    "READY, and nothing more": ([*STARTED, "sleep 100000"], "timeout", "limits.timeout", None, SHORT),
    "READY, and the end": ([*STARTED, "exit 0"], "error", EARLY, None),
    "READY, and does not wait for GO": ([*LOCKED, f"frame {READY}", f"frame {RUN}", ENDED[0], "sleep 300", "exit 0"], "ok", None, None),
    "READY from two processes": (["shim", "fork other", *STARTED[1:], "wait", "exit 0",
                                  "label other", "report silent", "job", "sleep 100", f"frame {READY}", "exit 0"], "error", EARLY, OUT_OF_TURN),
    "READY from a child": (["shim", "fork child", "wait", ENDED[0], "exit 0", "label child", *STARTED[1:], f"frame {RUN}", "exit 0"],
                           "ok", None, None),
    "RUN twice": ([*RUNNING, f"frame {RUN}", *ENDED], "error", EARLY, OUT_OF_TURN),
    "REPORT before RUN": ([*STARTED, *ENDED], "error", EARLY, OUT_OF_TURN),
    "CHECKED twice": ([*STARTED, f"text {CHECKED} {FOUND}", f"text {CHECKED} {FOUND}", f"frame {RUN}", *ENDED], "error", EARLY,
                      OUT_OF_TURN),
    "CHECKED that is no JSON": ([*STARTED, f"text {CHECKED} nothing", f"frame {RUN}", *ENDED], "ok", None, UNUSABLE),
    "CHECKED, and the end, as if it were only checked": ([*STARTED, f"text {CHECKED} {FOUND}", "exit 0"], "error", EARLY, None),
    "GO": ([*RUNNING, f"frame {GO}", *ENDED], "error", EARLY, OUT_OF_TURN),
    "another process's id": ([*LOCKED, f"forge {READY} 1 1000", f"frame {READY}", "await", f"frame {RUN}", *ENDED], "ok", None, None, "--network=loopback"),
    "another user's id": ([*LOCKED, f"forge {READY} self 0", f"frame {READY}", "await", f"frame {RUN}", *ENDED], "ok", None, None, "--network=loopback"),

    # ---- packets ----
    "an unknown type": ([*RUNNING, "frame 99", *ENDED], "error", EARLY, "unknown type 99"),
    "type 0": ([*RUNNING, "frame 0", *ENDED], "error", EARLY, "unknown type 0"),
    "unknown flags": ([*RUNNING, f"head {REPORT} 3 0 2 7b7d", *ENDED], "error", EARLY, "unknown flags"),
    "a field that must be zero": ([*RUNNING, f"head {REPORT} 1 1 2 7b7d", *ENDED], "error", EARLY, "unknown flags"),
    "a length of 4 GiB": ([*RUNNING, f"head {REPORT} 1 0 4294967295 7b7d", *ENDED], "error", EARLY, "a length of 4294967295"),
    "a length that is too short": ([*RUNNING, f"head {REPORT} 1 0 1 7b7d", *ENDED], "error", EARLY, "a length of 1"),
    "a header cut short": ([*RUNNING, "raw 05010000", *ENDED], "error", EARLY, "4 bytes are too few"),
    "an empty packet while it runs": ([*RUNNING, "raw ", *ENDED], "error", EARLY, "0 bytes are too few"),
    "a packet larger than any": ([*RUNNING, f"bytes {REPORT} 1 200000 32", *ENDED], "error", EARLY, "in a packet of"),
    "content where there is none": ([*RUNNING, f"bytes {RUN} 1 1 32", *ENDED], "error", EARLY, "without content"),
    "an endless message of nothing": ([*RUNNING, f"times 100 bytes {REPORT} 0 0 0", *ENDED], "error", EARLY, "empty, and not the last"),
    "garbage, and a flood behind it": ([*RUNNING, "raw ff", f"times 5000 bytes {REPORT} 0 30000 32", *ENDED], "error", EARLY,
                                       "too few"),
    "20,000 packets": ([*RUNNING, f"times 20000 text {DENIAL} {TOLD}", *ENDED], "error", EARLY, "more than 10000 packets"),
    "20,000 packets that break the protocol": ([*RUNNING, "times 20000 raw 00", *ENDED], "error", EARLY, "too few"),

    # ---- reports ----
    "half a report": ([*RUNNING, f"bytes {REPORT} 0 10 32", "exit 0"], "error", EARLY, None),
    "half a report, and something else": ([*RUNNING, f"bytes {REPORT} 0 10 32", f"text {DENIAL} {TOLD}", "exit 0"], "error", EARLY,
                                          "inside a 'report'"),
    "a report of 100 MB": ([*RUNNING, f"times 3200 bytes {REPORT} 0 32768 32", *ENDED], "error", EARLY, "more than"),
    "the same report again": ([*RUNNING, ENDED[0], *ENDED], "ok", None, OUT_OF_TURN),
    "a report, and then another status": ([*RUNNING, ENDED[0], "exit 5"], "error", "exit status 5", None),
    "a report without complete": (report('{"exit": 0}'), "error", EARLY, None),
    "an empty report": (report(""), "error", EARLY, UNUSABLE),
    "a report that is a list": (report("[]"), "error", EARLY, UNUSABLE),
    "30,000 brackets": (report("[" * 30000), "error", EARLY, "nested deeper"),
    "30,000 brackets, closed": (report('{"results": ' + "[" * 30000 + "]" * 30000 + "}"), "error", EARLY, "nested deeper"),
    "3,000 objects in each other": (report('{"results": ' * 3000 + "1" + "}" * 3000), "error", EARLY, "nested deeper"),
    "a status of 1e999": (report('{"exit": 1e999, "complete": true}'), "error", EARLY, UNUSABLE),
    "a status of 1e-999": (report('{"exit": 1e-999, "complete": true}'), "ok", None, None),
    "a number of 4,300 digits": (report('{"results": ' + "9" * 4300 + ", " + COMPLETE), "ok", None, None),
    "a number that Python's json cannot read": (report('{"results": [[' + "9" * 4301 + "]], " + COMPLETE), "error", EARLY, "4300 digits"),
    "no number": (report('{"results": NaN, ' + COMPLETE), "error", EARLY, UNUSABLE),
    "the same key twice": (report('{"exit": 1, "complete": true, ' + COMPLETE), "error", EARLY, "twice"),
    "the same key twice, once escaped": (report('{"\\u0065xit": 1, ' + COMPLETE), "error", EARLY, UNUSABLE),
    "bytes that are no UTF-8": (report_bytes(b'{"results": "\xff\xfe", ' + COMPLETE.encode()), "error", EARLY, "not UTF-8"),
    "an overlong slash": (report_bytes(b'{"results": "\xc0\xaf", ' + COMPLETE.encode()), "error", EARLY, "not UTF-8"),
    "half a surrogate pair": (report('{"results": "\\ud800", ' + COMPLETE), "error", EARLY, "surrogate"),
    "a NUL in a string": (report_bytes(b'{"results": "\0", ' + COMPLETE.encode()), "error", EARLY, "0x00"),
    "an escaped NUL": (report('{"results": "\\u0000", ' + COMPLETE), "error", EARLY, "u0000"),
    "more behind a NUL": (report_bytes(b"{" + COMPLETE.encode() + b"\0{}"), "error", EARLY, UNUSABLE),
    "a line feed in a string": (report_bytes(b'{"results": "\n", ' + COMPLETE.encode()), "error", EARLY, "control character"),
    "500,000 values": (report('{"results": [' + "0," * 499999 + "0], " + COMPLETE), "error", EARLY, UNUSABLE),
    "100,000 warnings": (report('{"warnings": [' + '"w",' * 99999 + '"w"], ' + COMPLETE), "ok", None, None),
    "members of the manifest": (report('{"status": "ok", "layers": {}, "signature": "x", ' + COMPLETE), "error", EARLY, "a member that is not known"),
    "a figure of the host's": (report('{"figures": [{"path": "../../etc/passwd", "mime": "image/png", "kind": "plot"}], ' + COMPLETE),
                               "ok", None, None),

    # ---- rejections ----
    "a forged rejection": ([*STARTED, f'text {REJECTED} {{"findings": [{FINDING}], "more": 0}}', "exit 2"], "error", "exit status 2",
                           UNUSABLE),
    "a rejection, and exit status 0": ([*STARTED, f'text {REJECTED} {{"findings": [], "more": 0}}', "exit 0"], "error", EARLY,
                                       UNUSABLE),
    "a rejection while it runs": ([*RUNNING, f'text {REJECTED} {{"findings": [{FINDING}], "more": 0}}', *ENDED], "error", EARLY,
                                  OUT_OF_TURN),

    # ---- descriptors ----
    "60 descriptors with READY": ([*LOCKED, f"pass-many {READY} 60 1", "await", f"frame {RUN}", *ENDED], "ok", None, None, "--network=loopback"),
    "253 descriptors, again and again": ([*RUNNING, f"times 3000 pass-many {RUN} 253 1", *ENDED], "error", EARLY, OUT_OF_TURN, "--network=loopback"),
    "a pipe as the listener": (["shim", f"pass {FILTERED} 1", *FILTERS, f"frame {READY}", "await"], "launch_failed", NO_START,
                               "no seccomp listener"),
    "a FIFO as the listener": (["shim", "call 133 s:/tmp/f 0x11a4 0", "open /tmp/f 0x802", f"pass {FILTERED} last", *FILTERS,
                                f"frame {READY}", "await"], "launch_failed", NO_START, "no seccomp listener"),
    "a directory as the listener": (["shim", "open / 0x200000", f"pass {FILTERED} last", *FILTERS, f"frame {READY}", "await"],
                                    "launch_failed", NO_START, "no seccomp listener"),
    "the status socket as the listener": ([f"pass {FILTERED} 5", *FILTERS, f"frame {READY}", "await"], "launch_failed", NO_START,
                                          "no seccomp listener"),
    "the channel itself as the listener": (["shim", f"pass {FILTERED} 3", *FILTERS, f"frame {READY}", "await"], "launch_failed",
                                           NO_START, "no seccomp listener"),
    "a listener of its own": (["shim", "listen 39", f"pass {FILTERED} listener", "allow", f"frame {READY}", "await", f"frame {RUN}",
                               "call 39", *ENDED], "ok", None, None),
    "a listener that is closed": (["shim", "report silent", "close listener", "job", f"frame {READY}", "await", f"frame {RUN}",
                                   "call 272 0", *ENDED], "ok", None, "not listed under denials"),
    "a listener that nobody asks": (["shim", "report silent", "job", f"frame {READY}", "await", f"frame {RUN}", "base 0", "calls 272 272",
                                     *ENDED], "ok", None, "not listed under denials"),
    "a listener that both hold": (["shim", "report keep", "job", f"frame {READY}", "await", f"frame {RUN}", "call 272 0", *ENDED], "ok",
                                  None, None),
    "a listener twice": (["shim", "report keep", f"pass {FILTERED} listener", "job", f"frame {READY}", "await"], "launch_failed",
                         NO_START, OUT_OF_TURN),
    "a listener too late": (["shim", "report silent", "job", f"frame {READY}", "await", f"pass {FILTERED} listener", f"frame {RUN}",
                             *ENDED], "error", EARLY, OUT_OF_TURN, "--network=loopback"),

    # ---- how it ended, as the first process says ----
    "the end before it is": (["status 1 0", *ALONE, "sleep 20", "exit 0"], "ok", None, None),
    "the end many times": ([*ALONE, "status 1 0", "times 1000 status 1 5", "exit 0"], "ok", None, None),
    "half of it": ([*ALONE, "status-hex 01000000", "exit 0"], "error", "before the interpreter did", None),
    "nothing of it": ([*ALONE, "exit 0"], "error", "before the interpreter did", None),
    "nothing of it, and a fault": ([*ALONE, "fault"], "error", "signal 4 before the interpreter did", None),
    "an end that cannot be": ([*ALONE, "status 77 999", "exit 0"], "error", "before the interpreter did", None),
    "a signal below 0": ([*ALONE, "status 2 -5", "exit 0"], "error", "before the interpreter did", None),
    "an exit status of 256": ([*ALONE, "status 1 256", "exit 0"], "error", "before the interpreter did", None),
    "a status of 4 KiB": ([*ALONE, "status-hex " + "ff" * 4000, "exit 0"], "error", "before the interpreter did", None),

    # ---- processes ----
    "stops itself": ([*RUNNING, f"die {int(signal.SIGSTOP)}"], "timeout", "limits.timeout", None, SHORT),
    "a daemon that outlives it": (["shim", "daemon rest", *STARTED[1:], f"frame {RUN}", *ENDED, "label rest", "sleep 100000"], "ok", None,
                                  None),
    "a child that holds every descriptor": ([*LOCKED[:1], "fork rest", *STARTED[1:], f"frame {RUN}", *ENDED, "label rest",
                                             "sleep 100000"], "ok", None, None),
    "executes itself again": (["shim", "exec again", "label again", *STARTED[1:], f"frame {RUN}", *ENDED], "ok", None, None),
    "executes itself again when it may not": ([*STARTED, "exec again", f"frame {RUN}", *ENDED, "label again", "exit 7"], "ok", None, None),
    "sends its output to the channel": ([*RUNNING, "dup 3 1", "print garbage", *ENDED], "error", EARLY, "broke the protocol"),
    "shuts its output": ([*RUNNING, "close 1", "close 2", *ENDED], "ok", None, None),

    # ---- files ----
    "fills /output and /tmp before READY": (["shim", "fill /output/full 100000000000", "fill /tmp/full 100000000000", *STARTED[1:],
                                             f"frame {RUN}", *ENDED], "ok", None, None, "--output-size=2M", "--tmp-size=2M"),
    "fills /output with files before READY": (["shim", "files /output 100000", *STARTED[1:], f"frame {RUN}", *ENDED], "ok", None, None),
}


@pytest.fixture
def host(user, probe):
    return Host(user)


def run(host, lines, *options):
    """The job's result, how long its launcher took, and its peak of memory in MiB. Nothing is left of it."""
    peak = cells.new_directory(host.user) / "peak"
    begin = time.monotonic()
    with host.start(probes.script(lines), *options, wrapper=probes.measured(peak)) as job:
        result = job.finish()
        took = time.monotonic() - begin
        host.check(job)
    return result, took, int(peak.read_text()) / 1024


def check_shape(manifest):
    errors = [f"{'/'.join(map(str, error.absolute_path))}: {error.message}" for error in SCHEMA.iter_errors(manifest)]
    assert not errors, errors


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_peer(host, name):
    lines, status, reason, warning, *rest = CASES[name]
    rest = [option for option in rest if option is not None]
    options = [option for option in rest if isinstance(option, str)]
    expected = next((option for option in rest if isinstance(option, int)), EXIT[status])
    result, took, peak = run(host, lines, *options)
    assert "no command" not in result.stderr and "no label" not in result.stderr, result
    assert result.manifest["status"] == status, result
    assert result.status == result.manifest["exit_code"] == expected, result
    assert reason is None or re.search(reason, result.manifest["reason"] or ""), result
    warnings = " ".join(result.manifest["warnings"])
    assert re.search(re.escape(warning), warnings) if warning else "protocol" not in warnings, result
    assert took < 30 * cells.SLOWNESS and peak < MEMORY_MB, (took, peak)
    check_shape(result.manifest)


SIGNALS = sorted({int(number) for number in signal.Signals} - {signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU,
                                                             signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH,
                                                             signal.SIGPIPE, signal.SIGXFSZ} | {35, 64})


def test_each_signal_that_ends_it_is_named(probe, base_tree):
    """The interpreter's process dies by each signal there is, while it runs and before it is ready."""
    for number in SIGNALS:
        result = cells.run(probes.script([*RUNNING, f"die {number}", "exit 0"]))
        assert (result.manifest["status"], result.manifest["process"].get("signal")) == ("error", number), result
        assert result.manifest["process"]["name"] in result.manifest["reason"]
        check_shape(result.manifest)
    for number in (signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM):
        result = cells.run(probes.script(["shim", f"die {int(number)}", "exit 0"]))
        assert (result.manifest["status"], result.status) == ("launch_failed", 70), result


def test_a_prelude_that_failed_is_all_that_can_be_forged_before_ready(probe, user):
    """Until READY the shim's word counts for how a launch failed; it gets no job a better status."""
    for code in (0, 1, 2, 3, 64, 70, 78, 255):
        result = cells.run(probes.script(["shim", "sleep 20", f"exit {code}"]), user=user)
        assert result.manifest["status"] == "launch_failed" and result.status == (78 if code == 78 else 70), result


# ---- what it is given ----

def test_the_first_process_is_given_six_descriptors_and_no_more(probe, user):
    result = cells.run(probes.script(["fds", WAITS]), SHORT, user=user)
    fds, = probes.answers(result, "fds")
    assert fds == {"0": "null", "1": "pipe", "2": "pipe", "3": "socket", "4": "file", "5": "socket"}


def test_the_handover_holds_the_job_and_nothing_of_the_host(probe, user):
    """No key, no path and no name of the host, nothing of the policy that is the launcher's own."""
    data = cells.new_directory(user) / "numbers.csv"
    data.write_text("a\n1\n")
    key = cells.new_directory(user) / "key"
    key.write_text("signing-secret-" * 4)
    key.chmod(0o600)
    os.chown(key, user.uid, -1)
    policy = {"redact": {"rules": [{"name": "own", "pattern": "pattern-of-redaction", "replace": "-"}]}}
    result = cells.run(probes.script(["handover", WAITS]), SHORT, "--input", f"d={data}", "--label=team=label-secret", "--tenant=tenant-secret",
                       f"--sign={key}", policy=policy, user=user)
    document, = probes.answers(result, "handover") or [None]
    assert document, result
    text = json.dumps(document)
    assert document["inputs"] == [{"name": "d", "path": "/input/d.csv", "format": "csv"}]
    for secret in (str(cells.scratch()), str(data), str(key), "signing-secret", "label-secret", "tenant-secret", "pattern-of-redaction",
                   cells.tree_path("base"), str(cells.BUILD), os.uname().nodename):
        assert secret not in text, secret


def test_the_handover_and_its_own_program_cannot_be_changed(probe, user):
    """Sealed, and mounted read-only: neither by its descriptor nor by its name below /proc."""
    result = cells.run(probes.script([
        "write 4 00", "call 1 4 buf 1 0 0 0", "call 77 4 0", "open /proc/self/fd/4 2", "call 1 last buf 1", "call 77 last 0",
        "call 9 0 4096 3 1 4 0", "open /proc/self/exe 2", "open /proc/self/exe 1025", WAITS]), SHORT, user=user)
    assert all(value < 0 for name, value in probes.said(result) if name != "open"), result
    assert probes.answers(result, "open")[1:] == [-errno.EACCES, -errno.EACCES] or \
        all(value < 0 for value in probes.answers(result, "open")[1:]), result


def test_limits_of_the_first_process_can_only_be_lowered(probe, user):
    """Each limit of its own to infinity, and a moment's silence: the hard ones are the launcher's."""
    lines = [f"call 302 0 {resource} x:{'ff' * 16} 0" for resource in (0, 1, 3, 4, 6, 7, 8, 11, 12, 13, 14)] + [WAITS]
    result = cells.run(probes.script(lines), "--cpu=5s", SHORT, user=user)
    refused = probes.answers(result, "call")
    # Data and processes are a cgroup's where there is one; address space and file locks are nobody's.
    assert refused.count(-errno.EPERM) >= 7, refused


def test_a_launcher_that_is_killed_takes_a_first_process_along_that_does_not_mind(probe, user):
    """It neither watches for the hang-up nor ends by itself: the kernel's death signal is enough."""
    with cells.start(probes.script(["print up", "spin"]), user=user) as job:
        assert job.read_line() == "up"
        cell = [os.pidfd_open(pid) for pid in job.descendants()]
        job.signal(signal.SIGKILL)
        job.wait()
        for pidfd in cell:
            assert select.select([pidfd], [], [], 10 * cells.SLOWNESS)[0], "the cell lives on"
            os.close(pidfd)


def test_a_socket_that_lingers_does_not_hold_the_launcher_up(user):
    """Closing one waits for its peer. Sent over the channel, the launcher was the one who closed it, and no limit held."""
    result = cells.run("""
        import array, json, os, socket, struct, time
        server = socket.create_server(("127.0.0.1", 0))
        client = socket.create_connection(server.getsockname())
        peer, _ = server.accept()
        try:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 1000))
        except OSError as error:
            print(error)
        client.setblocking(False)
        try:
            while True:
                client.send(b"x" * 65536)
        except BlockingIOError:
            pass
        body = json.dumps(dict(layer="audit", rule="files", what="w", line=1, count=1, hint=None)).encode()
        channel, fd = socket.socket(fileno=os.dup(3)), client.detach()
        for _ in range(150):
            channel.send(struct.pack("=BBHI", 7, 1, 0, len(body)) + body)
        channel.sendmsg([b"?"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))])
        os.close(fd)
        time.sleep(60)
        """, "--network=loopback", "--timeout=2", user=user)
    assert result.manifest["status"] == "timeout" and "Operation not permitted" in result.stdout, result
