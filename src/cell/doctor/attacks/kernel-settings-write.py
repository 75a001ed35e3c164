# Opens a setting of the kernel for writing.
# group: devices
# held: proc ids
# outside: needs root
def attack(lure):
    os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY))
    return "may say which program the host runs at a crash"
