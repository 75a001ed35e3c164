# io: text and byte streams in memory.
import io
text = io.StringIO("one\ntwo\nthree")
print(text.readline(), text.read(), text.tell(), text.seek(0), list(text))
data = io.BytesIO()
data.write(b"\x00\x01\x02")
print(data.getvalue(), data.getbuffer().nbytes, io.BytesIO(b"abc").read1(2))
wrapped = io.TextIOWrapper(io.BytesIO("é\n".encode()), encoding="utf-8")
print(wrapped.read(), wrapped.encoding, io.BufferedReader(io.BytesIO(b"peek")).peek(2)[:2], io.DEFAULT_BUFFER_SIZE)
with io.open("x.bin", "wb", buffering=0) as file:
    print(type(file).__name__, file.write(b"raw"))
pair = io.BufferedRWPair(io.BytesIO(b"in"), io.BytesIO())
print(pair.read(), pair.writable())
