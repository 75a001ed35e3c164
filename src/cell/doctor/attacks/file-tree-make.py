# Makes a directory in every directory that it finds, but for its own.
# group: files
# held: read_only_tree landlock
def attack(lure):
    own = [os.path.realpath(path) for path in ("/tmp", "/output", os.getcwd())] if os.path.isdir("/output") else []
    for top in ("/", "/usr", "/usr/lib", "/etc", "/dev", "/proc", "/input", "/var/tmp", "/tmp"):
        if top in own:
            continue
        try:
            os.mkdir(f"{top}/hotcell-drill-{os.getpid()}")
        except OSError:
            continue
        os.rmdir(f"{top}/hotcell-drill-{os.getpid()}")
        return f"made a directory in {top}"
