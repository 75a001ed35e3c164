# string.Template with a pattern of its own that accepts dots, and a mapping that walks.
# effect: env
import functools
import random
import string
class Walk(dict):
    def __missing__(self, key):
        start = random.Random()
        for name in key.split("."):
            start = start[name] if isinstance(start, dict) else getattr(start, name)
        return start
class Dotted(string.Template):
    idpattern = r"[a-zA-Z_.]+"
print(Dotted("$choice.__func__.__globals__._os.environ").substitute(Walk()))
