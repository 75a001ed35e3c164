# Looks for the launcher's command line in its own.
# group: leaks
# held: launcher
# outside: the launcher is not there
def attack(lure):
    with open("/proc/self/cmdline", encoding="utf-8") as file:
        arguments = file.read()
    return arguments if "/" in arguments else None
