# zipfile: writing, reading, extracting.
import io
import zipfile
with zipfile.ZipFile("a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("one.txt", "one " * 100)
    archive.writestr(zipfile.ZipInfo("dir/two.txt", (2024, 1, 2, 3, 4, 6)), "two")
with zipfile.ZipFile("a.zip") as archive:
    print(archive.namelist(), archive.read("one.txt")[:7], archive.getinfo("dir/two.txt").date_time, archive.testzip())
    archive.extractall("unpacked")
    print(archive.getinfo("one.txt").compress_size < archive.getinfo("one.txt").file_size)
print(open("unpacked/dir/two.txt").read(), zipfile.is_zipfile("a.zip"), zipfile.is_zipfile(io.BytesIO(b"no")))
with zipfile.ZipFile("a.zip", "a") as archive:
    archive.write("unpacked/one.txt", "three.txt")
print([info.filename for info in zipfile.ZipFile("a.zip").infolist()], zipfile.Path("a.zip", "dir/").joinpath("two.txt").read_text())
try:
    zipfile.ZipFile(io.BytesIO(b"x"))
except zipfile.BadZipFile as error:
    print(error)
