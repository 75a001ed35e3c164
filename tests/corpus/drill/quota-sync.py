# Has the host's quotas written out.
# group: kernel
# held: seccomp
def attack(lure):
    call("quotactl", 0x800001 << 8, None, 0, None)  # Q_SYNC
    return "had the host's quotas written out"
