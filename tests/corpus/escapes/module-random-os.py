# random keeps os as _os.
# effect: run
import random
random._os.system("cat @SECRET@")
