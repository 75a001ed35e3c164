# Runs a program that it wrote to /tmp by the dynamic loader.
# group: files
# held: seccomp mount_flags
import platform
import tempfile
def attack(lure):
    loader = {"x86_64": "/lib64/ld-linux-x86-64.so.2", "aarch64": "/lib/ld-linux-aarch64.so.1"}[platform.machine()]
    with tempfile.NamedTemporaryFile(delete=False) as file:
        file.write(program())
    os.chmod(file.name, 0o700)
    try:
        return "ran a program by the loader" if executes(lambda: os.execv(loader, [loader, file.name])) else None
    finally:
        os.unlink(file.name)
