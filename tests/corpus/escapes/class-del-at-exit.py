# A destructor in a module's globals runs while the interpreter ends.
# effect: run
import os
class Late:
    def __del__(self, run=os.system):
        run("cat @SECRET@")
keep = Late()
keep.circle = keep
