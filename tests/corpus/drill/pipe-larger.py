# Makes a pipe larger, which no watch sees.
# group: ipc
# held: seccomp
import fcntl
def attack(lure):
    mine, its = os.pipe()
    try:
        return f"has a pipe of {fcntl.fcntl(mine, 1031, 1 << 18)} bytes"
    finally:
        os.close(mine)
        os.close(its)
