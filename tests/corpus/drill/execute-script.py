# Runs a script that it wrote to /tmp.
# group: files
# held: seccomp landlock mount_flags
import tempfile
def attack(lure):
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/script", "w", encoding="ascii") as file:
            file.write("#!/bin/sh\nexit 42\n")
        os.chmod(file.name, 0o700)
        return "ran a script" if executes(lambda: os.execv(file.name, [file.name])) else None
