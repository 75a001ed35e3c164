# Makes memory that the host's administrator cannot see.
# group: memory
# held: seccomp
# outside: needs a kernel that has it turned on
def attack(lure):
    os.close(call("memfd_secret", 0))
    return "made secret memory"
