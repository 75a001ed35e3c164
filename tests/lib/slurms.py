"""A cluster for tests: Debian's Slurm, with a controller and nodes that are machines as far as namespaces go.

Each machine has a host name, processes and mounts of its own, and is switched off by the end of its process 1. All share a network in which
there is nothing else. What they write is below one directory, which is to them what a cluster's shared file system is.

    with slurms.Cluster() as cluster:
        job = cluster.sbatch("--array=1-4", script)
        cluster.nodes["n1"].kill()
        cluster.wait_for_end(job)
"""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import cells

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts" / "slurm"
NAMES = ("n1", "n2")
# Killed with whoever started it, and with it all that is in its namespaces.
BOUND = ["setpriv", "--pdeathsig", "KILL"]
MACHINE = ["unshare", "--uts", "--pid", "--fork", "--mount", "--mount-proc", "--kill-child", "/bin/bash", "-c"]
# Process 1 is bash, which stays, for orphans to be waited for.
BOOT = 'set -e; hostname "$0"; mount --bind "$1" /etc/passwd; shift; "$@" & wait $!'
# The cgroup that systemd would have started it in. Slurm keeps what is of one node apart from the other's.
ENTER_SERVICE = """set -e; slice=/sys/fs/cgroup/system.slice
mkdir -p "$slice/slurmd-$0.service"; echo 0 >"$slice/slurmd-$0.service/cgroup.procs"
echo "+cpu +cpuset +memory +pids" >$slice/cgroup.subtree_control
exec "$@" """

CONFIG = """
ClusterName=cells
SlurmctldHost=control(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={munge}/socket
CredType=cred/munge
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool-%n
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/%n.pid
MpiDefault=none
ProctrackType={proctrack}
TaskPlugin={task}
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
DefMemPerCPU=400
SchedulerParameters=batch_sched_delay=0,sched_interval=1
SlurmdTimeout={timeout}
ReturnToService=2
JobRequeue=1
{scripts}
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def need():
    cells.need_root()
    for program in ("slurmctld", "slurmd", "sbatch", "munged", "ip"):
        cells.need_program(program)


class Machine:
    """Whatever it runs ends with it."""

    def __init__(self, cluster, name, *command):
        self.cluster, self.name, self.command = cluster, name, command
        self.log = cluster.directory / f"{name}.log"
        self.process = None

    def start(self):
        service = ["/bin/bash", "-c", ENTER_SERVICE, self.name] if self.cluster.cgroups else []
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*BOUND, "nsenter", f"--net=/proc/{self.cluster.network.pid}/ns/net", *service, *MACHINE, BOOT, self.name,
                 self.cluster.passwd, *self.command],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.cluster.directory, env=self.cluster.environment())

    @property
    def init(self):
        """Pid outside of the machine's process 1; None while the machine boots."""
        children = cells._read(f"/proc/{self.process.pid}/task/{self.process.pid}/children").split()
        return int(children[0]) if children else None

    def processes(self):
        """Names of the machine's processes, by their pids outside."""
        space = os.readlink(f"/proc/{self.init}/ns/pid")
        found = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and cells._readlink(entry / "ns" / "pid") == space:
                found[int(entry.name)] = cells._read(entry / "comm").strip()
        return found

    def kill(self):
        """End the machine as a loss of power would: no process on it can do anything about it."""
        os.kill(self.init, signal.SIGKILL)
        self.process.wait(cells.PATIENCE)

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()


class Cluster:
    def __init__(self, user=None, cgroups=False, timeout=5, **scripts):
        """`scripts` are Slurm's: Prolog=PATH, ..."""
        self.user, self.cgroups, self.timeout = user or cells.caller(), cgroups, timeout
        self.directory = cells.new_directory(cells.caller())
        self.shared = cells.new_directory(self.user)
        self.munge = self.directory / "munge"
        self.passwd = self.directory / "passwd"
        self.config = self.directory / "slurm.conf"
        self.network = self.munged = None
        self.control = Machine(self, "control", "slurmctld", "-D")
        self.nodes = {name: Machine(self, name, "slurmd", "-D") for name in NAMES}
        self.write_files(scripts)

    def write_files(self, scripts):
        self.munge.mkdir()
        (self.directory / "state").mkdir()
        key = self.munge / "key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(1024))
        self.passwd.write_text(Path("/etc/passwd").read_text() + f"batch:x:{self.user.uid}:{self.user.uid}::{self.user.home}:/bin/bash\n")
        self.config.write_text(CONFIG.format(
            directory=self.directory, munge=self.munge, timeout=self.timeout,
            proctrack="proctrack/cgroup" if self.cgroups else "proctrack/linuxproc",
            task="task/cgroup" if self.cgroups else "task/none",
            scripts="\n".join(f"{name}={path}" for name, path in scripts.items()),
            nodes="\n".join(f"NodeName={name} NodeAddr=127.0.0.1 Port={7001 + i} CPUs=2 RealMemory=1000" for i, name in enumerate(self.nodes))))
        if self.cgroups:
            (self.directory / "cgroup.conf").write_text("CgroupPlugin=cgroup/v2\nIgnoreSystemd=yes\nConstrainRAMSpace=yes\n")

    def environment(self):
        return {**self.user.environment(), "SLURM_CONF": str(self.config), "HOTCELL": str(cells.HOTCELL)}

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        # An address beside 127.0.0.1: Slurm asks for those of families that the machine has configured.
        up = "ip link set lo up && ip address add 10.0.0.1/32 dev lo && echo up && exec sleep infinity"
        self.network = subprocess.Popen([*BOUND, "unshare", "--net", "/bin/sh", "-c", up], stdout=subprocess.PIPE,
                                        stdin=subprocess.DEVNULL)
        assert self.network.stdout.readline() == b"up\n"
        names = ("key-file=key", "socket=socket", "pid-file=pid", "log-file=log", "seed-file=seed")
        files = [f"--{name.replace('=', f'={self.munge}/')}" for name in names]
        with open(self.directory / "munged.log", "wb") as log:
            self.munged = subprocess.Popen([*BOUND, "munged", "--foreground", *files], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        cells.wait_until("munged listens", (self.munge / "socket").exists)
        for machine in (self.control, *self.nodes.values()):
            machine.start()
        self.wait_for_nodes("idle")

    def __exit__(self, *_):
        for machine in (*self.nodes.values(), self.control):
            machine.stop()
        for process in (self.munged, self.network):
            if process:
                process.kill()
                process.wait()
        if self.network:
            self.network.stdout.close()

    # ---- its commands ----

    def run(self, *command, check=True, as_root=False, **more):
        """Run a command as the user, on the machine with the controller."""
        uid = 0 if as_root else self.user.uid
        enter = ["nsenter", f"--target={self.control.init}", "--net", "--uts", "--mount", "--pid", f"--wd={self.shared}"]
        ids = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]
        done = subprocess.run([*enter, *ids, *command], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
                              timeout=cells.PATIENCE, env={**self.environment(), **more.pop("env", {})}, **more)
        assert not check or done.returncode == 0, done
        return done

    def sbatch(self, *arguments, **more):
        """Submit a job; returns its number."""
        return int(self.run("sbatch", "--parsable", *arguments, **more).stdout)

    def submit(self, script, *arguments):
        """Submit a job by its script's text; returns its number."""
        path = self.shared / "job"
        path.write_text(script)
        return self.sbatch(*arguments, path)

    def states(self, job):
        """State and node of a job, or of each job of an array that squeue still lists: number -> (state, node)."""
        lines = self.run("squeue", "-h", "-r", "-j", str(job), "-t", "all", "-o", "%i %T %N").stdout.splitlines()
        return {fields[0]: tuple(fields[1:]) for fields in (line.split() for line in lines)}

    def operator(self, *arguments):
        return self.run("scontrol", *arguments, as_root=True)

    def run_again_soon(self, job):
        """Slurm lets two minutes pass before it runs a job again. In the second of its end the node would take it for the one that was ended."""
        for task, state in self.states(job).items():
            if state[0] == "PENDING":
                self.operator("update", f"JobId={task}", "StartTime=now+2")

    # ---- waiting, for what tells nobody ----

    def wait(self, what, condition, seconds=cells.PATIENCE):
        """Each look is several processes: not as often as cells.wait_until."""
        end = time.monotonic() + seconds
        while not condition():
            assert self.control.process.poll() is None, f"the controller has ended: {self.logs()}"
            assert time.monotonic() < end, f"still not after {seconds} s: {what}\n{self.logs()}"
            time.sleep(0.2)

    def wait_for_nodes(self, state, names=NAMES):
        def all_are():
            found = self.run("sinfo", "-h", "-N", "-o", "%N %T", check=False).stdout
            return all(re.search(rf"^{name} {re.escape(state)}$", found, re.M) for name in names)
        self.wait(f"nodes are {state}", all_are)

    def wait_for_end(self, job):
        def over():
            return all(state[0] not in ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "REQUEUED") for state in self.states(job).values())
        self.wait(f"job {job} is over", over)
        return self.states(job)

    def logs(self):
        return "\n".join(f"{path.name}: {path.read_text(errors='replace')[-2000:]}" for path in sorted(self.directory.glob("*.log")))
