# statsmodels loads saved results by pickle.
# effect: run
# tree: scientific
import tempfile
from statsmodels.iolib.smpickle import load_pickle
path = tempfile.mktemp()
with open(path, "wb") as file:
    file.write(b"cposix\nsystem\n(Vcat @SECRET@\ntR.")
load_pickle(path)
