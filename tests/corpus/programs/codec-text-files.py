# Text files in several encodings and line endings, byte order marks, codecs.open.
import codecs
import locale
for encoding in ("utf-8", "utf-16", "latin-1", "utf-8-sig", "cp1252"):
    with open("t.txt", "w", encoding=encoding, newline="\r\n") as file:
        file.write("Grüße\nzwei")
    print(encoding, open("t.txt", "rb").read()[:6], open("t.txt", encoding=encoding).read().splitlines(), repr(open("t.txt", encoding=encoding, newline="").readline()))
with codecs.open("c.txt", "w", "utf-8") as file:
    file.write("é")
print(codecs.open("c.txt", encoding="utf-8").read(), open("c.txt", "rb").read(), codecs.decode(b"aGk=", "base64"), codecs.encode(b"hi", "hex"))
print(list(codecs.iterdecode([b"\xc3", b"\xa9"], "utf-8")), codecs.getincrementaldecoder("utf-8")().decode(b"\xc3"), "\ud800".encode("utf-8", "surrogatepass"), locale.getpreferredencoding(False).upper())
