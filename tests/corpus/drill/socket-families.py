# Opens sockets of all families but those of the internet and of local ones.
# group: network
# held: seccomp
def attack(lure):
    for family in set(range(3, 48)) - {10}:
        for kind in (1, 2, 3, 5):
            try:
                os.close(call("socket", family, kind, 0))
            except OSError:
                continue
            return f"opened a socket of family {family}, kind {kind}"
