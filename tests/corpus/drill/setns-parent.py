# Enters the namespaces of its parent.
# group: namespaces
# held: seccomp proc
# outside: needs root
def attack(lure):
    def enter():
        call("setns", os.open(f"/proc/{os.getppid()}/ns/mnt", os.O_RDONLY), 0)
        return "entered the mounts of its parent"
    return aside(enter)
