# Lists the working directory of a process of the host.
# group: processes
# held: pid_namespace proc
def attack(lure):
    names = os.listdir(f"/proc/{lure['pid']}/cwd/")
    return f"sees {len(names)} names"
