# Opens the name of the program that the kernel starts for devices.
# group: devices
# held: mount_namespace proc ids
# outside: needs root
def attack(lure):
    for path in ("/sys/kernel/uevent_helper", "/proc/sys/kernel/hotplug", "/proc/sys/kernel/modprobe"):
        try:
            os.close(os.open(path, os.O_WRONLY))
        except OSError:
            continue
        return f"may write {path}"
