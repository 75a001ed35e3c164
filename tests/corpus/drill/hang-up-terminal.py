# Hangs up the terminal of its session, which has none.
# group: kernel
# held: seccomp capabilities
# outside: needs root
def attack(lure):
    def hang_up():
        call("setsid")
        return accepted("vhangup")
    return aside(hang_up)
