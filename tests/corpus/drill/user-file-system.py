# Becomes another user for files only.
# group: rights
# held: seccomp capabilities
# outside: needs the capability without being root
def attack(lure):
    call("setfsuid", 0)
    if call("setfsuid", -1) == 0 and os.getuid() != 0:
        return "is root for files"
