# Looks for limits that are none.
# group: rights
# held: rlimits
import resource
def attack(lure):
    for name in ("RLIMIT_CORE", "RLIMIT_FSIZE", "RLIMIT_STACK", "RLIMIT_NOFILE", "RLIMIT_MSGQUEUE", "RLIMIT_SIGPENDING"):
        if resource.getrlimit(getattr(resource, name))[1] == resource.RLIM_INFINITY:
            return f"{name} is without a limit"
