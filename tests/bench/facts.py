"""What one has to know of the machine to read the numbers."""

import os
import platform
import subprocess
from pathlib import Path

import cells
from bench import engine


def read(path, default=None):
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return default


def processor():
    rows = [line.partition(":") for line in (read("/proc/cpuinfo") or "").splitlines()]
    fields = {name.strip(): value.strip() for name, _, value in reversed(rows)}
    return {"model": fields.get("model name") or platform.machine(), "count": os.cpu_count(),
            "usable": len(os.sched_getaffinity(0)), "mhz": fields.get("cpu MHz"), "virtual": "hypervisor" in fields.get("flags", "").split(),
            "governor": read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"), "smt": read("/sys/devices/system/cpu/smt/control"),
            "clock": read("/sys/devices/system/clocksource/clocksource0/current_clocksource")}


def mitigations():
    found = {path.name: read(path) for path in sorted(Path("/sys/devices/system/cpu/vulnerabilities").glob("*"))}
    return {name: text for name, text in found.items() if text != "Not affected"}


def memory():
    rows = dict(line.split(":", 1) for line in (read("/proc/meminfo") or "").splitlines())
    return {"total_mib": int(rows["MemTotal"].split()[0]) // 1024, "available_mib": int(rows["MemAvailable"].split()[0]) // 1024,
            "huge_pages": read("/sys/kernel/mm/transparent_hugepage/enabled")}


def cgroups():
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        kinds = {line.partition(" - ")[2].split()[0] for line in file if " - cgroup" in line}
    return {frozenset(): "none", frozenset(["cgroup2"]): "v2", frozenset(["cgroup"]): "v1"}.get(frozenset(kinds), "v1 and v2")


def said(*words):
    """The first line that a command prints."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return engine.first_line(done.stdout) if done.returncode == 0 and done.stdout else None


def programs():
    return {"hotcell": said(cells.HOTCELL, "--version"), "python3": said(engine.PYTHON, "--version"), "bwrap": said("bwrap", "--version"),
            "firejail": said("firejail", "--version"), "crun": said("crun", "--version"), "podman": said("podman", "--version")}


def source():
    """Of which state of the sources; None outside of a checkout."""
    root = str(engine.HERE)
    commit = said("git", "-C", root, "rev-parse", "HEAD")
    return commit and {"commit": commit, "changed": bool(said("git", "-C", root, "status", "--porcelain"))}


def distribution():
    rows = dict(line.split("=", 1) for line in (read("/etc/os-release") or "").splitlines() if "=" in line)
    return rows.get("PRETTY_NAME", "unknown").strip('"')


def machine():
    return {"processor": processor(), "memory": memory(), "kernel": platform.release(), "architecture": platform.machine(),
            "distribution": distribution(), "cgroups": cgroups(), "mitigations": mitigations(), "root": os.geteuid() == 0,
            "programs": programs(), "source": source()}


def others():
    """Load, and the time of processors that others had: that of this machine's host, too."""
    fields = [int(text) for text in (read("/proc/stat") or "cpu 0 0 0 0 0 0 0 0").splitlines()[0].split()[1:]]
    return {"load": os.getloadavg()[0], "stolen_seconds": fields[7] / os.sysconf("SC_CLK_TCK")}
