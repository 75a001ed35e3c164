# Opens the keys by which the machine can be stopped.
# group: devices
# held: proc ids
# outside: needs root
def attack(lure):
    os.close(os.open("/proc/sysrq-trigger", os.O_WRONLY))
    return "may stop the machine"
