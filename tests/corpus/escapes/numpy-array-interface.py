# An object says where its memory is, and numpy reads it: here the stack, where the environment lies.
# effect: env
# tree: scientific
import numpy
stack = next(line for line in open("/proc/self/maps") if "[stack]" in line).split()[0]
start, end = (int(part, 16) for part in stack.split("-"))
class Memory:
    pass
memory = Memory()
memory.__array_interface__ = {"version": 3, "shape": (end - start,), "typestr": "|u1", "data": (start, True)}
print(next(word for word in numpy.asarray(memory).tobytes().split(b"\0") if word.startswith(b"ESCAPE_SECRET="))[14:].decode())
