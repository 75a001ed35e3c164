# Looks for capabilities that a program could give it.
# group: rights
# held: capabilities
def attack(lure):
    for number in range(41):
        if libc.prctl(23, number, 0, 0, 0) == 1:
            return f"could be given capability {number}"
