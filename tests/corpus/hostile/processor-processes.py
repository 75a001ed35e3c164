# Takes time in children that end before anybody counts it.
# group: resources
# held: launcher
# status: cpu
# options: --cpu=0.5 --processes=fork
import os
import time

while True:
    if os.fork() == 0:
        end = time.process_time() + 0.02
        while time.process_time() < end:
            pass
        os._exit(0)
    os.wait()
