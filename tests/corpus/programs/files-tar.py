# tarfile.
import io
import os
import tarfile
os.mkdir("in")
for n in range(3):
    with open(f"in/{n}.txt", "w") as file:
        file.write("x" * n)
with tarfile.open("a.tar.gz", "w:gz") as archive:
    archive.add("in")
    member = tarfile.TarInfo("extra.bin")
    member.size = 4
    archive.addfile(member, io.BytesIO(b"abcd"))
with tarfile.open("a.tar.gz") as archive:
    print(sorted(archive.getnames()), archive.extractfile("extra.bin").read(), archive.getmember("in/2.txt").size)
    archive.extractall("out")
print(sorted(os.listdir("out/in")), tarfile.is_tarfile("a.tar.gz"))
