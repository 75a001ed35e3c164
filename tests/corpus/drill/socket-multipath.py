# Opens a socket of another protocol in a family that may be allowed.
# group: network
# held: seccomp
# outside: needs a kernel that has one of them
def attack(lure):
    for family, kind, protocol in ((2, 1, 262), (2, 1, 132), (2, 5, 132), (2, 6, 33), (2, 3, 255), (2, 2, 136), (10, 2, 58)):
        try:
            os.close(call("socket", family, kind, protocol))
        except OSError:
            continue
        return f"opened a socket of protocol {protocol}"
