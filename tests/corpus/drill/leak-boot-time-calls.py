# Tells since when the host runs by a call that knows more.
# group: leaks
# held: seccomp time_namespace
def attack(lure):
    facts = ctypes.create_string_buffer(128)
    call("sysinfo", facts)
    uptime = int.from_bytes(facts.raw[:8], "little")
    if -2 <= uptime - lure["boottime"] < 1800:
        return f"up for {uptime} s"
