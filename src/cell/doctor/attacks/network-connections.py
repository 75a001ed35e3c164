# Looks for a port of the host in the list of connections.
# group: network
# held: network_namespace proc
def attack(lure):
    with open("/proc/self/net/tcp", encoding="ascii") as file:
        return "sees the ports of the host" if f":{lure['port']:04X} " in file.read() else None
