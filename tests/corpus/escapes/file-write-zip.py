# A path that climbs, in an archive that is unpacked by name.
# effect: write
import io
import os
import zipfile
data = io.BytesIO()
with zipfile.ZipFile(data, "w") as archive:
    archive.writestr("../" * 40 + "@WRITE@".lstrip("/"), "x")
with zipfile.ZipFile(data) as archive:
    for name in archive.namelist():
        with open(os.path.join(os.getcwd(), name), "wb") as file:
            file.write(archive.read(name))
