# Operators as calls: the attribute comes from __class_getitem__ assigned to exec.
# effect: run
class Call:
    __class_getitem__ = exec
Call["import os; os.system('cat @SECRET@')"]
