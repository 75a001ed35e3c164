# Creates a file that runs as whoever owns it, mode included.
# group: files
# held: seccomp
def attack(lure):
    name = f"hotcell-drill-{os.getpid()}"
    fd = os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o4700)
    try:
        return "created a set-user-id file" if os.fstat(fd).st_mode & 0o4000 else None
    finally:
        os.close(fd)
        os.unlink(name)
