# pandas.read_pickle.
# effect: run
# tree: scientific
import os
import tempfile
import pandas
class Trap:
    def __reduce__(self):
        return os.system, ("cat @SECRET@",)
path = tempfile.mktemp()
pandas.to_pickle(Trap(), path)
pandas.read_pickle(path)
