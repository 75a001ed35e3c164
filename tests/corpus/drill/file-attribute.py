# Stores bytes in an extended attribute, where no limit counts them.
# group: files
# held: seccomp
# outside: needs a file system with extended attributes
def attack(lure):
    name = f"hotcell-drill-{os.getpid()}"
    with open(name, "wb"):
        pass
    try:
        os.setxattr(name, "user.drill", b"x" * 1000)
        return "stored bytes in an attribute"
    finally:
        os.unlink(name)
