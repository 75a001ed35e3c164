# A star import brings what the module lists.
# effect: run
from os import *
print(popen("cat @SECRET@").read())
