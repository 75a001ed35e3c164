"""packages - which Debian packages own files of this host, in which revision, and whether there are newer ones."""

import glob
import os
import platform
import re
import subprocess

INFO = "/var/lib/dpkg/info"
MERGED = ("/bin/", "/sbin/", "/lib/", "/lib64/")  # as old packages call what lies below /usr
FORMAT = "${db:Status-Abbrev}\\t${binary:Package}\\t${Package}\\t${Version}\\t${source:Package}\\t${source:Version}\\t${Architecture}\\n"
ENVIRONMENT = {"LC_ALL": "C", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}


def _ask(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, env=ENVIRONMENT).stdout
    except FileNotFoundError:
        return ""


def _merged(path):
    return "/usr" + path if path.startswith(MERGED) else path


def system():
    """The host's system and its release, such as "debian-12"."""
    try:
        about = platform.freedesktop_os_release()
    except OSError:
        return "linux"
    return "-".join(part for part in (about["ID"], about.get("VERSION_ID")) if part)


def installed():
    """What is installed: the name that lists of files have -> name, version, source, source's version, architecture."""
    rows = (line.split("\t") for line in _ask("dpkg-query", "-W", "-f", FORMAT).splitlines())
    return {row[1]: dict(zip(("name", "version", "source", "source_version", "architecture"), row[2:]))
            for row in rows if len(row) == 7 and row[0].startswith("ii")}


def owners(paths):
    """The packages that own some of PATHS, by their names; what no package owns is passed over."""
    wanted = {_merged(path) for path in paths}
    known, found = installed(), {}
    for lines in glob.glob(f"{INFO}/*.list"):
        label = os.path.basename(lines).removesuffix(".list")
        about = known.get(label) or known.get(label.partition(":")[0])
        if not about:
            continue
        with open(lines, encoding="utf-8", errors="replace") as source:
            if any(_merged(line.rstrip("\n")) in wanted for line in source):
                found[about["name"]] = {key: about[key] for key in ("version", "source", "source_version", "architecture")}
    return dict(sorted(found.items()))


def is_newer(version, than):
    """Whether Debian's VERSION is a later one."""
    if version == than:
        return False
    return subprocess.run(["dpkg", "--compare-versions", version, "gt", than], check=False, env=ENVIRONMENT).returncode == 0


def available(names):
    """What apt's lists have: name -> pairs of a version and whether it comes from an archive of security updates."""
    found, name, version = {}, None, None
    for line in _ask("apt-cache", "policy", *names).splitlines() if names else []:
        if line and line[0] not in " *":
            name = line.rstrip(":")
        elif match := re.fullmatch(r"\s(?:\*\*\*|   )\s(\S+)\s+-?\d+", line):
            version = match[1]
        elif match := re.fullmatch(r"\s+-?\d+ (\S+)(?: (\S+) .*)?", line):
            if name and version and not match[1].startswith("/var/lib/dpkg/"):
                found.setdefault(name, []).append((version, "-security" in (match[2] or "") or "debian-security" in match[1]))
    return found
