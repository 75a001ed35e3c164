# Makes pairs of sockets of families that are not local.
# group: network
# held: seccomp
# outside: needs a kernel with TIPC
def attack(lure):
    pair = (ctypes.c_int * 2)()
    for family in (2, 10, 16, 30, 40):
        try:
            call("socketpair", family, 1, 0, pair)
        except OSError:
            continue
        os.close(pair[0])
        os.close(pair[1])
        return f"made a pair of family {family}"
