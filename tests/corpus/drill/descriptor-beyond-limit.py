# Opens more files than it may by raising its limit.
# group: descriptors
# held: capabilities
# outside: needs root
import resource
import struct
def attack(lure):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    call("prlimit64", 0, resource.RLIMIT_NOFILE, struct.pack("QQ", soft, hard + 1), None)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return "raised the limit of open files"
