# Writes to memory that all processes of a host share by name.
# group: devices
# held: mount_namespace landlock
def attack(lure):
    name = f"/dev/shm/hotcell-drill-{os.getpid()}"
    os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    os.unlink(name)
    return "made a file in shared memory"
