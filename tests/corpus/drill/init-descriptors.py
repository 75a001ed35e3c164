# Lists the descriptors of the first process.
# group: processes
# held: proc
# outside: needs root
def attack(lure):
    return f"sees {len(os.listdir('/proc/1/fd'))} descriptors"
