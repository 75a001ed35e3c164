# Opens a file of the host for writing.
# group: files
# held: mount_namespace landlock
def attack(lure):
    os.close(os.open(lure["file"], os.O_WRONLY))
    return "may write a file of the host"
