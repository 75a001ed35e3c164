# Has the C library abort.
# group: ending
# held: launcher
# status: error
# manifest: reason SIGABRT
import os

os.abort()
