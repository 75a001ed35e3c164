# Asks for the host's name.
# group: leaks
# held: uts_namespace
def attack(lure):
    if os.uname().nodename == lure["hostname"]:
        return "the host's name"
