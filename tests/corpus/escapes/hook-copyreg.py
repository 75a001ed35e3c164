# copy.copy calls __reduce_ex__, which names any callable.
# effect: run
import copy
import os
class Trap:
    def __reduce__(self):
        return os.system, ("cat @SECRET@",)
copy.copy(Trap())
