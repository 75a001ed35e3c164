# A name put into builtins is called by the libraries.
# effect: run
import builtins
import os
import statistics
def length(thing):
    os.system("cat @SECRET@")
    return 1
builtins.len = length
statistics.median([1])
