"""Containers of crun in which hotcell runs, as Docker, Podman and Kubernetes set them up."""

import dataclasses
import json
import os
import subprocess
from pathlib import Path

import cells

PROFILE = json.loads((Path(__file__).parents[2] / "scripts" / "oci" / "seccomp.json").read_text(encoding="utf-8"))
FIRST_HOST_ID, IDS = 100000, 65536  # host ids of a container with a user namespace
CAPABILITIES = [f"CAP_{name}" for name in ("CHOWN", "DAC_OVERRIDE", "FSETID", "FOWNER", "MKNOD", "NET_RAW", "SETGID", "SETUID", "SETFCAP",
                                           "SETPCAP", "NET_BIND_SERVICE", "SYS_CHROOT", "KILL", "AUDIT_WRITE")]  # what engines leave root
MASKED = ["/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/scsi", "/sys/firmware"]
READ_ONLY = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"]
NEW_USER_NAMESPACE = 0x10000000


def refused(names, errno, **more):
    return {"names": names, "action": "SCMP_ACT_ERRNO", "errnoRet": errno, **more}


# Of the engines' default profile what a process without CAP_SYS_ADMIN misses.
DEFAULT_PROFILE = {**PROFILE, "syscalls": [
    *PROFILE["syscalls"],
    refused(["fsconfig", "fsmount", "fsopen", "fspick", "mount", "mount_setattr", "move_mount", "open_tree", "pivot_root", "setdomainname",
             "sethostname", "setns", "umount", "umount2", "unshare"], 1),
    refused(["clone3"], 38),
    refused(["clone"], 1, args=[{"index": 0, "op": "SCMP_CMP_MASKED_EQ", "value": NEW_USER_NAMESPACE, "valueTwo": NEW_USER_NAMESPACE}])]}


@dataclasses.dataclass
class Container:
    """What a user of an engine chooses; the defaults are the engines' own but for the profile."""
    profile: dict | None = dataclasses.field(default_factory=lambda: PROFILE)  # None: unconfined
    masked: bool = True
    uid: int = 0
    capabilities: list = dataclasses.field(default_factory=lambda: CAPABILITIES)
    user_namespace: bool = False
    cgroup_writable: bool = False

    def spec(self, script):
        linux = {"namespaces": [{"type": kind} for kind in ("pid", "network", "ipc", "uts", "mount", "cgroup")]}
        if self.user_namespace:
            linux["namespaces"].append({"type": "user"})
            linux["uidMappings"] = linux["gidMappings"] = [{"containerID": 0, "hostID": FIRST_HOST_ID, "size": IDS}]
        if self.masked:
            linux.update(maskedPaths=MASKED, readonlyPaths=READ_ONLY)
        if self.profile:
            linux["seccomp"] = self.profile

        def mount(place, kind, *options):
            return {"destination": place, "type": kind, "source": kind, "options": ["nosuid", *options]}
        mounts = [mount("/proc", "proc", "noexec", "nodev"), mount("/dev", "tmpfs", "mode=755"), mount("/tmp", "tmpfs", "mode=1777"),
                  mount("/run", "tmpfs", "mode=755"), mount("/sys", "sysfs", "noexec", "nodev", "ro"),
                  mount("/sys/fs/cgroup", "cgroup", "noexec", "nodev", *([] if self.cgroup_writable else ["ro"]))]
        environment = {"PATH": "/usr/sbin:/usr/bin", "HOME": "/tmp", "HOTCELL_STATE": "/srv/state", "HOTCELL_POLICIES": "/srv/chosen"}
        owned = self.capabilities if self.uid == 0 else []
        return {"ociVersion": "1.0.0", "root": {"path": "root"}, "hostname": "container", "mounts": mounts, "linux": linux,
                "process": {"terminal": False, "cwd": "/tmp", "args": ["sh", "-c", script], "noNewPrivileges": self.uid != 0,
                            "user": {"uid": self.uid, "gid": self.uid}, "env": [f"{name}={value}" for name, value in environment.items()],
                            "capabilities": {"bounding": self.capabilities, "effective": owned, "permitted": owned}}}

    def run(self, script):
        """The shell's finished process; /srv/build has the programs. The root's files are mounts that go with it."""
        bundle = cells.new_directory(cells.caller())
        places = {"usr": "/usr", "srv/build": cells.BUILD, "srv/policies": cells.BUILD.parent / "policies",
                  "srv/state": os.environ["HOTCELL_STATE"]}
        for place in (*places, "srv/chosen", "proc", "dev", "tmp", "run", "sys"):
            (bundle / "root" / place).mkdir(parents=True)
        for name in ("bin", "sbin", "lib", "lib64"):
            (bundle / "root" / name).symlink_to(f"usr/{name}")
        (bundle / "root/srv/chosen/default.json").write_text('{"name": "default", "tree": "base"}', encoding="ascii")
        (bundle / "config.json").write_text(json.dumps(self.spec(script)), encoding="utf-8")
        binds = " && ".join(f'mount --rbind "{source}" "root/{place}"' for place, source in places.items())
        return subprocess.run(["unshare", "--mount", "sh", "-c", f'{binds} && exec "$@"', "sh", "crun", "--cgroup-manager=cgroupfs", "run",
                               f"container-{bundle.name}"], cwd=bundle, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False, timeout=cells.PATIENCE)
