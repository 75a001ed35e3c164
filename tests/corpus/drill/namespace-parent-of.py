# Asks for the namespace above its own user namespace.
# group: namespaces
# held: seccomp proc
# outside: there is none above the host's
import fcntl
def attack(lure):
    fd = os.open("/proc/self/ns/user", os.O_RDONLY)
    try:
        os.close(fcntl.ioctl(fd, 0xb702))  # NS_GET_PARENT
        return "has a descriptor of the user namespace above"
    finally:
        os.close(fd)
