# gzip, bz2, lzma, zlib.
import bz2
import gzip
import lzma
import zlib
data = b"hotcell " * 1000
for module in (gzip, bz2, lzma, zlib):
    packed = module.compress(data)
    print(module.__name__, len(packed) < 200, module.decompress(packed) == data)
for module, name in ((gzip, "x.gz"), (bz2, "x.bz2"), (lzma, "x.xz")):
    with module.open(name, "wt") as file:
        file.write("line one\nline two\n")
    with module.open(name, "rt") as file:
        print(name, file.readlines())
print(zlib.crc32(b"abc"), zlib.adler32(b"abc"))
stream = zlib.compressobj(9)
print(zlib.decompress(stream.compress(b"a" * 50) + stream.flush()) == b"a" * 50)
try:
    gzip.decompress(b"not gzip")
except gzip.BadGzipFile as error:
    print(error)
