# Unpacks much from little.
# group: resources
# held: launcher cgroup
# status: memory error
# options: --memory=64M
import zlib

packer = zlib.compressobj(1)
packed = b"".join(packer.compress(bytes(1 << 20)) for _ in range(192)) + packer.flush()
print(len(zlib.decompress(packed)))
