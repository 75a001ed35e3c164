# operator.attrgetter with names that are put together at run time.
# effect: run
import operator
import random
under = "_" * 2
operator.attrgetter("choice." + under + "func" + under + "." + under + "globals" + under)(random.Random())["_os"].system("cat @SECRET@")
