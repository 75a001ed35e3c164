# Lists the file locks of the host.
# group: leaks
# held: proc
import fcntl
import tempfile
def attack(lure):
    with tempfile.TemporaryFile() as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        with open("/proc/locks", encoding="ascii") as locks:
            return f"sees {len(locks.readlines())} locks"
