# copyreg registers a reducer for a type that cannot have methods.
# effect: run
import copy
import copyreg
import os
class Thing:
    pass
copyreg.pickle(Thing, lambda thing: (os.system, ("cat @SECRET@",)))
copy.deepcopy(Thing())
