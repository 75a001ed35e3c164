# Opens the memory of its parent.
# group: processes
# held: proc
# outside: its parent there is not its user's
def attack(lure):
    with open(f"/proc/{os.getppid()}/mem", "rb"):
        return "opened the memory of its parent"
