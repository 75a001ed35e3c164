"""Cells whose first process is not the shim but tests/probe, a hostile program that follows a script.

    result = cells.run(probes.script([*probes.RUNNING, "call 39", *probes.ENDED]), user=user)
    probes.answers(result, "call")

The launcher is the real one, in a directory of its own, where the probe stands beside it under the shim's name; the fixture
`probe` makes tests use it.
"""

import json
import subprocess
import sys

import cells

HOTCELL = cells.BUILD / "probe" / "hotcell"
PROBE = cells.BUILD / "probe" / "hotcell-shim"

# Frames, as src/wire/frame.h numbers them.
READY, GO, REJECTED, RUN, REPORT, CHECKED, DENIAL, FILTERED = range(1, 9)

FILTERS = ["report", "job"]
LOCKED = ["shim", *FILTERS]  # steps that the shim takes before it sends READY
STARTED = [*LOCKED, f"frame {READY}", "await"]
RUNNING = [*STARTED, f"frame {RUN}"]
ENDED = [f'text {REPORT} {{"exit": 0, "complete": true}}', "exit 0"]

# Prints the peak of its child's memory, in KiB, into a file, and ends as the child did.
MEASURE = """
import os, resource, signal, subprocess, sys
status = subprocess.call(sys.argv[2:], close_fds=False)
with open(sys.argv[1], "w") as file:
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=file)
if status < 0:
    signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
sys.exit(status)
"""


def need():
    if not PROBE.exists():
        cells.skip(f"{PROBE} is missing: run make probe")


def script(lines):
    return ("\n".join(lines) + "\n").encode()


def said(result):
    """The probe's lines as (name, value), in order. Lines that are no JSON are the program's."""
    found = []
    for line in result.stdout.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            found += entry.items()
    return found


def answers(result, name):
    return [value for key, value in said(result) if key == name]


def measured(path):
    """A wrapper for cells.start, and afterwards the launcher's peak of memory in MiB."""
    return ["/usr/bin/python3", "-I", "-S", "-c", MEASURE, path]


def outside(lines, user, directory):
    """The probe's own script without a cell, as an ordinary user: what it says."""
    need()
    text = json.dumps({"code": script(lines).decode()}, separators=(",", ":")).encode()
    handover = directory / "handover"
    handover.write_bytes(0x68634833.to_bytes(4, sys.byteorder) + len(text).to_bytes(4, sys.byteorder) + bytes(32) + text)
    done = subprocess.run(["/bin/sh", "-c", 'exec "$0" 4<"$1"', PROBE, handover], cwd=directory, capture_output=True, text=True,
                          check=False, timeout=cells.PATIENCE, env={}, **user.popen_arguments())
    assert done.returncode == 0, done
    return [json.loads(line) for line in done.stdout.splitlines()]
