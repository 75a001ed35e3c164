# Opens what it has mapped by its addresses.
# group: descriptors
# held: proc
# outside: needs root
def attack(lure):
    names = os.listdir("/proc/self/map_files")
    os.close(os.open(f"/proc/self/map_files/{names[0]}", os.O_RDONLY))
    return "opened a file by where it is mapped"
