# Ends its process with status 0 after it failed.
# group: ending
# held: launcher
# status: error
import atexit
import os

atexit.register(os._exit, 0)
1 / 0
