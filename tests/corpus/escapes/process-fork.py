# os.fork.
# effect: fork
import os
if os.fork() == 0:
    print("@TOKEN@", flush=True)
    os._exit(0)
os.wait()
