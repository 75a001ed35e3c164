# The same with a format string that is put together at run time.
# effect: env
import random
under = "__"
field = "0.choice." + under + "func" + under + "." + under + "globals" + under + "[_os].environ"
print(("{" + field + "}").format(random.Random()))
