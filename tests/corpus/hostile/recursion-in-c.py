# Has C code call itself until the stack is full.
# group: resources
# held: rlimits
# status: error killed
# options: --memory=128M
nest = ()
for _ in range(500000):
    nest = (nest,)
hash(nest)
