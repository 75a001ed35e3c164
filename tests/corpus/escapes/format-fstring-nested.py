# An f-string in an f-string's format specification.
# effect: env
import random
print(f"{random.Random().choice.__func__.__globals__['_os'].environ!s:{'>'}{1}}")
