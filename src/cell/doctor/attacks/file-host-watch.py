# Watches a directory of the host.
# group: files
# held: seccomp mount_namespace
def attack(lure):
    queue = call("inotify_init1", 0)
    try:
        call("inotify_add_watch", queue, os.path.dirname(lure["file"]).encode(), 0xfff)
        return "watches a directory of the host"
    finally:
        os.close(queue)
