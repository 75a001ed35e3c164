# faulthandler writes to a descriptor.
# effect: write
import faulthandler
with open("@WRITE@", "w") as file:
    faulthandler.dump_traceback(file)
