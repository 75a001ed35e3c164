# Writes on and on to a file that is to be collected.
# group: output
# held: launcher
# status: timeout
# options: --timeout=0.5 --grace=0 --output-size=4M
# manifest: partial
import threading


def grow(name):
    while True:
        with open(name, "ab", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(1000))
            except OSError:
                file.truncate(0)


for number in range(4):
    threading.Thread(target=grow, args=(f"growing{number}",)).start()
