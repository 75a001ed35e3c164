# Makes a namespace for host names in a user namespace of its own, and takes a name.
# group: namespaces
# held: seccomp
def attack(lure):
    def rename():
        become_root(CLONE_NEWUTS)
        call("sethostname", b"drill", 5)
        return f"is now {os.uname().nodename}"
    return aside(rename)
