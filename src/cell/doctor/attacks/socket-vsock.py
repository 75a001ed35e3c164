# Opens a socket to the hypervisor.
# group: network
# held: seccomp
# outside: needs a virtual machine
def attack(lure):
    os.close(call("socket", 40, 1, 0))
    return "may talk to the hypervisor"
