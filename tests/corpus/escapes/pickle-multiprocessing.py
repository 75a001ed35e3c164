# multiprocessing's reducers unpickle.
# effect: run
from multiprocessing.reduction import ForkingPickler
ForkingPickler.loads(b"cposix\nsystem\n(Vcat @SECRET@\ntR.")
