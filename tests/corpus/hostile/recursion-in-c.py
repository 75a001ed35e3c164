# Has C code call itself until the stack is full.
# group: resources
# held: rlimits
# status: error killed
# options: --memory=128M
import sys

sys.setrecursionlimit(1 << 30)
nest = []
for _ in range(500000):
    nest = [nest]
hash(repr(nest))
