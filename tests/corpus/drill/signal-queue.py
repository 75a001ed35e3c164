# Queues nothing for a process of the host.
# group: signals
# held: pid_namespace landlock
import struct
def attack(lure):
    information = ctypes.create_string_buffer(struct.pack("iii", 0, 0, -1), 128)
    call("rt_sigqueueinfo", lure["pid"], 0, information)
    return "may queue signals for a process of the host"
