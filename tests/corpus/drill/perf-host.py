# Opens a performance counter of a process of the host.
# group: kernel
# held: seccomp pid_namespace
import struct
def attack(lure):
    exclude_kernel_and_hypervisor = 1 << 5 | 1 << 6
    event = struct.pack("IIQQQQQ", 1, 112, 0, 0, 0, 0, exclude_kernel_and_hypervisor)  # software, CPU clock
    os.close(call("perf_event_open", event + bytes(112 - len(event)), lure["pid"], -1, -1, 0))
    return "opened a performance counter of a process of the host"
