# Puts one thing in the place of another, in a loop that only the end of the cell ends.
# group: output
# held: launcher landlock
# status: timeout
# options: --timeout=0.5 --grace=0
import os
import threading


def attempt(call, *arguments):
    try:
        call(*arguments)
    except OSError:
        pass


def file():
    with open("new-file", "w") as new:
        new.write("harmless")
    os.rename("new-file", "result")


def swap():
    while True:
        attempt(file)
        attempt(os.unlink, "result")
        attempt(os.symlink, "@FILE@", "result")
        attempt(os.mkdir, "result")
        attempt(os.rename, "result", "result-too")
        attempt(os.rmdir, "result-too")
        attempt(os.mkfifo, "result")


for _ in range(3):
    threading.Thread(target=swap).start()
