# Reads how many keys each user of the host has.
# group: leaks
# held: proc
# outside: needs a kernel with keyrings
def attack(lure):
    with open("/proc/key-users", encoding="utf-8") as file:
        return file.readline().strip() or None
