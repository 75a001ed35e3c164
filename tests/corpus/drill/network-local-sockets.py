# Looks for a local socket of the host in their list.
# group: network
# held: network_namespace proc
def attack(lure):
    with open("/proc/self/net/unix", encoding="utf-8", errors="replace") as file:
        return "sees the local sockets of the host" if lure["abstract"] in file.read() else None
