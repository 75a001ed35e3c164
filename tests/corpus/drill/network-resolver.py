# Reads where the host asks for names.
# group: network
# held: mount_namespace
# outside: needs a host that has one
def attack(lure):
    with open("/etc/resolv.conf", encoding="utf-8") as file:
        return file.readline().strip() or None
