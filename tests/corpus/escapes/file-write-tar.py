# tarfile unpacks absolute names and links as they stand.
# effect: write
import io
import tarfile
data = io.BytesIO()
with tarfile.open(fileobj=data, mode="w") as archive:
    member = tarfile.TarInfo("@WRITE@")
    archive.addfile(member, io.BytesIO())
data.seek(0)
with tarfile.open(fileobj=data) as archive:
    archive.extractall("/")
