# numpy: save, load, text files, memory maps.
# tree: scientific
import io
import numpy as np
a = np.arange(6).reshape(2, 3)
np.save("a.npy", a)
np.savez("both.npz", a=a, b=a * 2)
np.savez_compressed("packed.npz", a=a)
np.savetxt("a.csv", a, delimiter=",", fmt="%d", header="x,y,z")
print(np.load("a.npy"), np.load("both.npz")["b"], np.load("packed.npz").files, np.loadtxt("a.csv", delimiter=","), open("a.csv").read())
print(np.genfromtxt(io.StringIO("a,b\n1,2\n,4"), delimiter=",", names=True), np.load("a.npy", mmap_mode="r")[1])
a.tofile("raw.bin")
print(np.fromfile("raw.bin", dtype=a.dtype), np.frombuffer(b"\x01\x02", dtype="u1"), np.fromstring("1 2", sep=" "))
m = np.memmap("map.bin", dtype="f4", mode="w+", shape=(2, 2))
m[:] = 3
m.flush()
print(np.memmap("map.bin", dtype="f4", mode="r", shape=(2, 2)).sum())
