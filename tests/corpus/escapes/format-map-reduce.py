# str.format taken as a value and applied by map.
# effect: env
import random
print(*map("{0.choice.__func__.__globals__[_os].environ}".format, [random.Random()]))
