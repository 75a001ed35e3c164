# Lists the directory of a file of the host.
# group: files
# held: mount_namespace
def attack(lure):
    return f"sees {len(os.listdir(os.path.dirname(lure['file'])))} names"
