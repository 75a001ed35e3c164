# Writes into a named pipe in a directory that it was given, which a process of the host has open.
# group: files
# held: mount_namespace
# cell: directories
def attack(lure):
    pipe = os.open(lure["given"] + "/pipe", os.O_WRONLY | os.O_NONBLOCK)
    os.write(pipe, b"drill")
    return "wrote to a process of the host"
