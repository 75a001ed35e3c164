# Lists the network interfaces of the host.
# group: network
# held: network_namespace proc
# outside: needs a host with more than a loopback
def attack(lure):
    with open("/proc/self/net/dev", encoding="ascii") as file:
        names = [line.split(":")[0].strip() for line in file.readlines()[2:]]
    return f"sees {' '.join(names)}" if set(names) - {"lo"} else None
