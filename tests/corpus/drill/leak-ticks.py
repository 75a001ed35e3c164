# Tells since when the host runs by the number of ticks.
# group: leaks
# held: time_namespace
# outside: its ticks count from a number that only the kernel knows
def attack(lure):
    ticks = ctypes.c_long(libc.times(None)).value / os.sysconf("SC_CLK_TCK")
    if 0 <= ticks - lure["boottime"] < 1800:
        return f"ticks of {ticks:.0f} s"
