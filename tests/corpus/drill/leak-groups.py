# Looks for groups of the launcher's user.
# group: leaks
# held: ids user_namespace
# outside: needs a user with groups
def attack(lure):
    known = set(os.getgroups()) - {os.getgid(), 65534}
    return f"is in groups {known}" if known else None
