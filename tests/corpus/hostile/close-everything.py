# Closes all that it has open, and goes on.
# group: ending
# held: launcher
# status: error
import os

os.closerange(0, 1 << 16)
