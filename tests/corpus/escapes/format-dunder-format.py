# An object's own __format__ is given text by the program.
# effect: env
import random
class Walk:
    def __format__(self, spec):
        return ("{0." + spec + "}").format(random.Random())
print(f"{Walk():choice.__func__.__globals__[_os].environ}")
