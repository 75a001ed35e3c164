# Tells since when the host runs by a clock.
# group: leaks
# held: time_namespace
import time
def attack(lure):
    passed = time.clock_gettime(time.CLOCK_BOOTTIME) - lure["boottime"]
    if 0 <= passed < 1800:
        return "the host's clock since it was started"
