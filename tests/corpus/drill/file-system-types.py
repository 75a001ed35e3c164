# Asks for the number of file system types that the kernel has.
# group: kernel
# held: seccomp
# machine: x86_64
def attack(lure):
    return f"{call('sysfs', 3, 0, 0)} types of file systems"
