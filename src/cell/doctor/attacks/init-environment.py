# Reads the environment of the first process.
# group: processes
# held: proc
# outside: needs root
def attack(lure):
    with open("/proc/1/environ", "rb") as file:
        return f"read {len(file.read())} bytes"
