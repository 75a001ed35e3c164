# Watches the standard library, which others read.
# group: files
# held: seccomp
def attack(lure):
    queue = call("inotify_init1", 0)
    try:
        call("inotify_add_watch", queue, os.path.dirname(os.__file__).encode(), 0x21)
        return "sees who reads the standard library"
    finally:
        os.close(queue)
