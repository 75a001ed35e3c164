# Reads on which frequency the processors run, which tells what others do.
# group: leaks
# held: mount_namespace
# outside: needs a machine that says so
def attack(lure):
    with open("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", encoding="ascii") as file:
        return f"runs at {file.read().strip()}"
