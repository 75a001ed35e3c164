# Leaves a daemon that writes to the results, the output and to itself.
# group: ending
# held: launcher pid_namespace
# status: ok
# options: --processes=fork
# manifest: stdout done
import os

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            try:
                with open("/output/daemon", "w") as file:
                    file.write("still here")
            except OSError:
                pass
    os._exit(0)
os.wait()
print("done")
