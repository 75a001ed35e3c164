# Puts one thing in the place of another in an output directory that is the host's own.
# group: output
# held: launcher landlock
# status: timeout
# options: --timeout=0.5 --grace=0 --output-mode=bind
import os


def attempt(call, *arguments):
    try:
        call(*arguments)
    except OSError:
        pass


def write(name):
    with open(name, "w") as new:
        new.write("harmless")


while True:
    for name in ("result", "manifest.json"):
        attempt(write, name)
        attempt(os.unlink, name)
        attempt(os.symlink, "@FILE@", name)
        attempt(os.mkdir, name)
        attempt(os.rmdir, name)
