# Opens the terminal of its session.
# group: devices
# held: mount_namespace
# outside: needs a session with a terminal
def attack(lure):
    os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    return "has the caller's terminal"
