# Makes a cgroup namespace in a user namespace of its own.
# group: namespaces
# held: seccomp
def attack(lure):
    return aside(lambda: become_root(CLONE_NEWCGROUP) or "made a cgroup namespace")
