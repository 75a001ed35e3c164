# Writes into a file of a directory that it was given to read.
# group: files
# held: mount_flags landlock
# cell: directories
def attack(lure):
    with open(lure["given"] + "/words", "r+", encoding="utf-8") as file:
        file.write("drill")
    return "wrote into a directory of the host"
