# Leaves a thread that prints, nobody waits for and that is there when everything else is gone.
# group: ending
# held: launcher
# status: ok error
import os
import threading


def flood():
    while True:
        os.write(1, b"still here\n")


threading.Thread(target=flood, daemon=True).start()
