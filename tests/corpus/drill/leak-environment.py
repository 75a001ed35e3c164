# Looks for the launcher's environment in its own.
# group: leaks
# held: launcher
# outside: the launcher is not there
def attack(lure):
    odd = [name for name in os.environ if name.startswith(("HOTCELL", "SSH", "SUDO", "XDG")) or lure["secret"] in os.environ[name]]
    return f"has {' '.join(odd)}" if odd else None
