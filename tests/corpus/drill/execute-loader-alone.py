# Runs the dynamic loader, the only file of the tree that may be executed.
# group: files
# held: seccomp
import platform
def attack(lure):
    loader = {"x86_64": "/lib64/ld-linux-x86-64.so.2", "aarch64": "/lib/ld-linux-aarch64.so.1"}[platform.machine()]
    return "ran the loader" if executes(lambda: os.execv(loader, [loader, "--drill"]), expected=(0, 1, 127)) else None
