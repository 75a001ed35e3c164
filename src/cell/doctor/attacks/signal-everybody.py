# Sends nothing to everybody that it may send to.
# group: signals
# held: pid_namespace landlock
def attack(lure):
    os.kill(-1, 0)
    return "may send signals to others"
