# Reads the arguments of its parent.
# group: processes
# held: proc
def attack(lure):
    with open(f"/proc/{os.getppid()}/cmdline", encoding="utf-8") as file:
        return f"read {len(file.read())} bytes"
