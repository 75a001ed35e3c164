# Lists the keys that it may see.
# group: leaks
# held: proc
# outside: needs a kernel with keyrings
def attack(lure):
    with open("/proc/keys", encoding="utf-8") as file:
        return f"sees {len(file.readlines())} keys"
