# Looks for processes by sending nothing to every number.
# group: signals
# held: pid_namespace
def attack(lure):
    for pid in {*range(3, 3000), lure["pid"]} - {os.getpid()}:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            continue
        except PermissionError:
            pass
        return f"there is a process {pid}"
