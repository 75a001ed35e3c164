# Lowers every limit of its own to nothing.
# group: ending
# held: launcher
# status: ok error killed
import resource

for name in ("RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_DATA", "RLIMIT_AS", "RLIMIT_NPROC", "RLIMIT_STACK"):
    resource.setrlimit(getattr(resource, name), (0, 0))
