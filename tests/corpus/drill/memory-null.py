# Maps the page at address 0.
# group: memory
# held: capabilities
# outside: needs root where vm.mmap_min_addr is set
def attack(lure):
    address = call("mmap", 0, 4096, 3, 0x32, -1, 0)
    if address == 0:
        return "mapped the page at 0"
