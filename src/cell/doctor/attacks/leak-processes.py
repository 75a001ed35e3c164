# Counts the processes of the host.
# group: leaks
# held: proc
def attack(lure):
    count = os.stat("/proc").st_nlink  # of a mounted proc: some directories, and one for each process of the machine
    return f"counts about {count} processes" if count > 20 else None
