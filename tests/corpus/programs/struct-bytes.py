# struct, bytes, bytearray, memoryview, codecs.
import codecs
import struct
packed = struct.pack("<IhB4sf", 1, -2, 255, b"abcd", 1.5)
print(packed, struct.unpack("<IhB4sf", packed), struct.calcsize("!QI"), list(struct.iter_unpack(">H", b"\x00\x01\x00\x02")))
buffer = bytearray(b"hello")
view = memoryview(buffer)
view[0:1] = b"J"
print(buffer, view[1:3].tobytes(), view.nbytes, buffer.hex(" "), bytes.fromhex("ff 00"), b"a,b".split(b","), bytes(3), bytes([65, 66]))
view.release()
buffer += b"!"
print(buffer.decode(), b"abc".find(b"c"), b"%d" % 5, codecs.encode("abc", "rot13"), codecs.lookup("utf8").name, "x".encode("utf-16-le"), codecs.BOM_UTF8)
print("é".encode("latin-1"), "é".encode("ascii", "replace"), "é".encode("ascii", "xmlcharrefreplace"), b"\xff".decode("utf-8", "backslashreplace"), b"\xe9".decode("cp1252"))
