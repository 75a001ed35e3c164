# An array whose second row is the stack, where the environment lies.
# effect: env
# tree: scientific
import numpy
stack = next(line for line in open("/proc/self/maps") if "[stack]" in line).split()[0]
start, end = (int(part, 16) for part in stack.split("-"))
one = numpy.zeros(1, numpy.uint8)
rows = numpy.lib.stride_tricks.as_strided(one, (2, end - start), (start - one.__array_interface__["data"][0], 1))
print(next(word for word in rows[1].tobytes().split(b"\0") if word.startswith(b"ESCAPE_SECRET="))[14:].decode())
