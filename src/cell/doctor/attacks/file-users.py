# Reads who the users of the host are.
# group: files
# held: mount_namespace
def attack(lure):
    with open("/etc/passwd", encoding="utf-8") as file:
        users = [line.split(":")[0] for line in file]
    return f"knows {len(users)} users" if "root" in users else None
