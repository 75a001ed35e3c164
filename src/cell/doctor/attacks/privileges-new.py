# Looks whether a program could give it more rights.
# group: rights
# held: no_new_privs
def attack(lure):
    if call("prctl", 39, 0, 0, 0, 0) == 0:
        return "programs may give it rights"
