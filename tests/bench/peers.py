"""What else runs a program apart from the host: as commands, and how each is given a program.

Those are measured that are installed and that run a program here; the report says of the others why not. Others can be named:

    tests/bench/run cold --peer 'nsjail=nsjail -q -Mo -R /usr -R /lib -R /lib64 -R {program} -- {python} {program}'

where {program} becomes the program's path, {folder} a directory that it may write to, and {python} the interpreter.
"""

import json
import os
import shlex

from bench.engine import PYTHON

ISOLATED = [PYTHON, "-I", "-S"]
PLACES = ("bin", "lib", "lib64")


def links():
    """Names in / that lead into /usr, where a distribution has merged them."""
    return {name: os.readlink(f"/{name}") for name in PLACES if os.path.islink(f"/{name}")}


def bubblewrap(program, folder, python):
    """New namespaces of every kind, a root of its own, and of the host what the interpreter needs."""
    roots = ["--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
             "--ro-bind-try", "/etc/alternatives", "/etc/alternatives"]  # where Debian's numpy finds its BLAS
    for name, target in links().items():
        roots += ["--symlink", target, f"/{name}"]
    return ["bwrap", "--unshare-all", "--die-with-parent", *roots, "--ro-bind", program, program, "--bind", folder, folder, *python, program]


def firejail(program, folder, python):
    """No network, no capabilities, its system call filter; the whole file system, read-only but for one folder."""
    return ["firejail", "--quiet", "--noprofile", "--net=none", "--caps.drop=all", "--nonewprivs", "--seccomp", "--private-dev",
            "--read-only=/usr", f"--read-only={program}", *python, program]


def crun(program, folder, python):
    """A container of the same things that bubblewrap gets; its bundle is written beside the program."""
    bundle = os.path.join(os.path.dirname(program), f"crun-{os.path.basename(program)}")
    root = os.path.join(bundle, "root")
    for name in ("usr", "proc", "dev", "tmp", "etc/alternatives", os.path.dirname(program).strip("/"), folder.strip("/")):
        os.makedirs(os.path.join(root, name), exist_ok=True)
    for name, target in links().items():
        if not os.path.islink(os.path.join(root, name)):
            os.symlink(target, os.path.join(root, name))
    with open(os.path.join(root, program.strip("/")), "w", encoding="ascii"):
        pass

    def bind(path, *options):
        return {"destination": path, "type": "bind", "source": path, "options": ["rbind", *options]}
    # Nested places are mounted in this order.
    mounts = [{"destination": "/proc", "type": "proc", "source": "proc"},
              {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "strictatime", "mode=755"]},
              bind("/usr", "ro"), bind("/etc/alternatives", "ro"), bind(program, "ro"), bind(folder, "rw")]
    spec = {"ociVersion": "1.0.0", "root": {"path": "root", "readonly": True}, "hostname": "cell", "mounts": mounts,
            "process": {"terminal": False, "user": {"uid": 0, "gid": 0}, "args": [*python, program], "cwd": "/", "noNewPrivileges": True,
                        "env": ["LANG=C.UTF-8", f"TMPDIR={folder}"], "capabilities": {}},
            "linux": {"namespaces": [{"type": kind} for kind in ("pid", "network", "ipc", "uts", "mount")]}}
    with open(os.path.join(bundle, "config.json"), "w", encoding="utf-8") as file:
        json.dump(spec, file)
    return ["crun", "--cgroup-manager=disabled", "run", "--bundle", bundle, f"hotcell-bench-{os.getpid()}-{os.path.basename(program)}"]


def podman(program, folder, python):
    """The host's own files as its image, so that it is the same interpreter."""
    return ["podman", "run", "--rm", "--network=none", "--cap-drop=all", "--read-only", "--env", f"TMPDIR={folder}",
            "--volume", f"{folder}:{folder}", "--rootfs", "/:O", *python, program]


OURS = ("hotcell", "python3", "bubblewrap ")  # what names of other contenders begin with
MEASURED = ("cold", "steady")  # where those that were asked for take part
KNOWN = {"bubblewrap": bubblewrap, "firejail": firejail, "crun": crun, "podman": podman}


def named(text):
    """A contender that NAME=COMMAND describes."""
    name, equals, line = text.partition("=")
    if not name or not equals or "{program}" not in line:
        raise ValueError(f"{text!r} is not NAME=COMMAND with {{program}} in COMMAND")
    if name in KNOWN or name.startswith(OURS):
        raise ValueError(f"{text!r}: {name!r} is measured anyway: give it another name")
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise ValueError(f"{text!r}: {error}") from error

    def build(program, folder, python):
        told = []
        for word in words:
            told += python if word == "{python}" else [word.replace("{program}", program).replace("{folder}", folder)]
        return told
    return name, build


def commands(bench, program, folder, python):
    """{name: command} of all that are known and asked for."""
    known = {**KNOWN, **dict(bench.asked.peer)}
    return {name: build(str(program), str(folder), python) for name, build in known.items()}
