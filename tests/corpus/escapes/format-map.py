# str.format_map has no constant receiver to look at either.
# effect: env
import random
print("{r.choice.__func__.__globals__[_os].environ}".format_map({"r": random.Random()}))
