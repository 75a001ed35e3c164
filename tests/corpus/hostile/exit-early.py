# Ends its process with status 0 behind the interpreter's back.
# group: ending
# held: launcher
# status: error
import os

print("before", flush=True)
os._exit(0)
