# Opens what makes disks of files.
# group: devices
# held: mount_namespace
# outside: needs root
def attack(lure):
    os.close(os.open("/dev/loop-control", os.O_RDWR))
    return "may make disks of files"
