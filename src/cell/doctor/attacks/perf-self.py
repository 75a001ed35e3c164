# Opens a performance counter of its own process.
# group: kernel
# held: seccomp
import struct
def attack(lure):
    exclude_kernel_and_hypervisor = 1 << 5 | 1 << 6
    event = struct.pack("IIQQQQQ", 1, 112, 0, 0, 0, 0, exclude_kernel_and_hypervisor)  # software, CPU clock
    os.close(call("perf_event_open", event + bytes(112 - len(event)), 0, -1, -1, 0))
    return "opened a performance counter"
