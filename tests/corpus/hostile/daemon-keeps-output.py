# Leaves a child that keeps the output open and says nothing.
# group: ending
# held: launcher pid_namespace
# status: ok
# options: --processes=fork
# manifest: stdout done
import os
import time

if os.fork() == 0:
    os.setsid()
    time.sleep(1000)
print("done")
