# Opens a group of file events without any right.
# group: files
# held: seccomp
def attack(lure):
    os.close(call("fanotify_init", 0x200, 0))
    return "may listen to file events"
