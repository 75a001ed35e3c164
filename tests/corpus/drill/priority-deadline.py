# Reserves time of the processors for itself.
# group: rights
# held: seccomp capabilities
# outside: needs root
import struct
def attack(lure):
    def reserve():
        call("sched_setattr", 0, struct.pack("IIQiIQQQ", 48, 6, 0, 0, 0, 1000000, 10000000, 10000000), 0)
        return "reserved time"
    return aside(reserve)
