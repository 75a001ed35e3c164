# Turns off the randomisation of its addresses.
# group: kernel
# held: seccomp
def attack(lure):
    def set_it():
        call("personality", 0x0040000)
        return "turned off address space layout randomisation"
    return aside(set_it)
