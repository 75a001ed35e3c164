# Has the kernel write process accounting to a file that is not there.
# group: kernel
# held: seccomp capabilities
# outside: needs root
def attack(lure):
    return accepted("acct", b"/hotcell-drill/none")
