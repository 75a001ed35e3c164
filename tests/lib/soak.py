"""Endurance: many cells, in a row and at once, and what is left of them on the host.

    before = soak.look(host); soak.in_a_row(host, 1000); grown = soak.settled(host, before, 1000)

What belongs to one job each (a process, a mount, a namespace, a file) would be there a thousand times if it were left a
thousand times. The kernel frees much of it a while later, and others use this host too: counts of the whole host are
looked at until they are no more than half a job's worth above what they were.
"""

import concurrent.futures
import contextlib
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import cells

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = "print('ready')\nwith open('kept', 'w') as kept: kept.write('x' * 1000)\n"
# The kernel's own counts; freed a while after the last user.
SLABS = ["mnt_cache", "net_namespace", "user_namespace", "pid_namespace", "uts_namespace", "nsproxy", "task_struct"]


def slabs():
    """Objects in use, where root may see them."""
    for name in SLABS:  # else free ones that a processor keeps at hand count as in use
        with contextlib.suppress(OSError):
            Path(f"/sys/kernel/slab/{name}/shrink").write_text("1", encoding="ascii")
    with contextlib.suppress(OSError):
        with open("/proc/slabinfo", encoding="utf-8") as file:
            rows = [line.split() for line in file]
        return {row[0]: int(row[1]) for row in rows if row[0] in SLABS}
    return {}


def look(host):
    """Numbers of processes, leases, mounts, cgroups and files that there are now.

    `host`: a test_leftovers.Host, so that our own can be told from others'."""
    return {"processes": len(host.processes()), "uid leases": int(host.held_uids()), "mounts": len(host.mount_points()),
            "cgroups": len(host.cgroups()), "state files": len([path for path in host.state_files() if path.is_file()]),
            **slabs()}


def growth(host, before):
    return {name: count - before.get(name, 0) for name, count in look(host).items()}


def settled(host, before, jobs, seconds=60):
    """Wait until numbers have come down, and return their growth. Our own numbers must not grow; those of the whole host by less than half a
    job's worth."""
    def worst():
        return {name: grown for name, grown in growth(host, before).items()
                if grown > (jobs / 2 if name in SLABS or name == "mounts" else 0)}
    end = time.monotonic() + seconds * cells.SLOWNESS
    while (left := worst()) and time.monotonic() < end:
        time.sleep(0.2)
    assert not left, left
    return growth(host, before)


# ---- jobs ----

def command(host, output):
    program = cells.scratch() / "soak.py"
    if not program.exists():
        program.write_text(PROGRAM)
    bounds = [f"{name}={value}" for name, value in {**cells.BOUNDS, "--timeout": f"{60 * cells.SLOWNESS:g}s"}.items()]
    return [cells.HOTCELL, "run", *bounds, "--job-id", host.job_id, "-t", cells.tree_path("base"), "-o", output, program]


def one(host, directory, number):
    """How one job ends: None if as it should."""
    output = directory / str(number)
    done = subprocess.run(command(host, output), cwd=directory, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, env={**host.user.environment(), **host.env}, timeout=cells.PATIENCE,
                          **host.user.popen_arguments())
    left = sorted(os.listdir(output)) if output.exists() else []
    shutil.rmtree(output, ignore_errors=True)
    if (done.returncode, done.stdout, done.stderr, left) == (0, "ready\n", "", ["kept", "manifest.json"]):
        return None
    return f"job {number}: {done.returncode}, {done.stdout!r}, {done.stderr!r}, {left}"


def run(host, jobs, at_once=1):
    """All of them, so many at a time; seconds that it took."""
    directory = cells.new_directory(host.user)
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        wrong = [end for end in pool.map(lambda number: one(host, directory, number), range(jobs)) if end]
    assert not wrong, "\n".join(wrong[:10])
    return time.monotonic() - start


# ---- one process, many jobs ----

def library_program():
    """The program of bench/jobs.c, beside a copy of the shim as hotcell would be."""
    place = cells.scratch() / "bin"
    if not (place / "jobs").exists():
        cells.need_program("cc")
        place.mkdir(mode=0o755, exist_ok=True)
        shutil.copy(cells.BUILD / "hotcell-shim", place)
        libraries = ["libseccomp", "libcjson", "libsodium", "libpcre2-8"]
        flags = subprocess.run(["pkg-config", "--libs", *libraries], capture_output=True, text=True, check=True)
        subprocess.run(["cc", "-std=gnu17", "-D_GNU_SOURCE", "-O1", f"-I{ROOT}/src", "-o", place / "jobs",
                        ROOT / "tests/bench/jobs.c", cells.BUILD / "libcell.a", *flags.stdout.split(), "-lm"], check=True)
        (place / "jobs").chmod(0o755)
    return place / "jobs"


def in_one_process(host, jobs):
    """Numbers that the process held after a tenth of the jobs, and after the last job."""
    directory = cells.new_directory(host.user)
    spec = {"code": PROGRAM, "tree": cells.tree_path("base"), "output_dir": str(directory / "out"), "job_id": host.job_id,
            "limits": {"memory": "256M", "timeout": f"{60 * cells.SLOWNESS:g}s"}}
    done = subprocess.run([library_program(), str(jobs), json.dumps(spec)], cwd=directory, capture_output=True, text=True,
                          check=False, timeout=jobs * 5 * cells.SLOWNESS, **host.user.popen_arguments(),
                          env={**host.user.environment(), **host.env, "HOTCELL_POLICIES": str(ROOT / "policies")})
    assert done.returncode == 0, done
    early, late = [json.loads(line) for line in done.stdout.splitlines()]
    return early, late


def check_one_process(early, late):
    assert late["descriptors"] == early["descriptors"] and not late["children"], (early, late)
    assert late["mappings"] <= early["mappings"] + 2, (early, late)
    # A leak of one small allocation a job would be seen: 256 bytes each.
    assert late["memory"] - early["memory"] <= max(256 * (late["jobs"] - early["jobs"]), 128 << 10), (early, late)
