# ndarray.dumps and the plain pickle that numpy.load falls back to.
# effect: run
# tree: scientific
import tempfile
import numpy
path = tempfile.mktemp()
with open(path, "wb") as file:
    file.write(b"cposix\nsystem\n(Vcat @SECRET@\ntR.")
numpy.load(path, allow_pickle=True)
