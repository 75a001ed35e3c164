# Has a shell look for programs that run as another user, or with more rights than their caller.
# group: rights
# held: read_only_tree
def attack(lure):
    return commands("find /bin/ /usr/bin/ /usr/lib/ -perm /6000 -type f -print -quit")
