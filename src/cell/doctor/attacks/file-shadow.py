# Reads the host's passwords.
# group: files
# held: mount_namespace ids landlock
# outside: needs root
def attack(lure):
    with open("/etc/shadow", "rb") as file:
        return f"read {len(file.read())} bytes"
