# Raises its limits.
# group: rights
# held: capabilities
# outside: needs root
import resource
def attack(lure):
    for name in ("RLIMIT_FSIZE", "RLIMIT_STACK", "RLIMIT_NPROC", "RLIMIT_MEMLOCK", "RLIMIT_RTPRIO", "RLIMIT_NICE", "RLIMIT_CORE"):
        soft, hard = resource.getrlimit(getattr(resource, name))
        if hard == resource.RLIM_INFINITY:
            continue
        try:
            resource.setrlimit(getattr(resource, name), (soft, hard + 4096))
        except (OSError, ValueError):
            continue
        resource.setrlimit(getattr(resource, name), (soft, hard))
        return f"raised {name}"
