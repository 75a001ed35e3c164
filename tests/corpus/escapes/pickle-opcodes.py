# The same, written by hand in protocol 0.
# effect: run
import pickle
pickle.loads(b"cposix\nsystem\n(Vcat @SECRET@\ntR.")
