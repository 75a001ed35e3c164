# A binary file format written and read back; a BMP image by hand; bit fields.
import os
import struct
header = struct.Struct("<4sHI")
records = [(1, 2.5, b"ab"), (2, -1.0, b"cde")]
with open("data.bin", "wb") as file:
    file.write(header.pack(b"HCEL", 1, len(records)))
    for number, value, name in records:
        file.write(struct.pack("<idB", number, value, len(name)) + name)
with open("data.bin", "rb") as file:
    magic, version, count = header.unpack(file.read(header.size))
    read = []
    for _ in range(count):
        number, value, length = struct.unpack("<idB", file.read(13))
        read.append((number, value, file.read(length)))
print(magic, version, read == records, os.path.getsize("data.bin"))
width, height = 4, 2
row = b"".join(bytes((x * 60, 0, 255 - x * 60)) for x in range(width))
with open("i.bmp", "wb") as file:
    file.write(struct.pack("<2sIHHIIiiHHIIiiII", b"BM", 54 + len(row) * height, 0, 0, 54, 40, width, height, 1, 24, 0, 0, 0, 0, 0, 0) + row * height)
print(os.path.getsize("i.bmp"), struct.unpack_from("<ii", open("i.bmp", "rb").read(), 18))
flags = 0b1010
print([bool(flags >> n & 1) for n in range(4)], flags | 1, flags & ~2, flags.bit_count(), f"{flags ^ 0xF:04b}", (-5) >> 1, int.from_bytes(b"\xff\xfe", "big", signed=True))
