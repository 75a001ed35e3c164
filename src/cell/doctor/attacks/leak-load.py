# Tells how busy the host is.
# group: leaks
# held: seccomp
def attack(lure):
    facts = ctypes.create_string_buffer(128)
    call("sysinfo", facts)
    processes = int.from_bytes(facts.raw[80:82], "little")
    if processes > 10:
        return f"the host runs {processes} processes"
