# tempfile.
import os
import tempfile
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "x.txt")
    with open(path, "w") as file:
        file.write("data")
    print(os.listdir(folder), os.path.getsize(path))
print(os.path.exists(folder))
with tempfile.NamedTemporaryFile("w+", suffix=".csv") as file:
    file.write("a,b\n")
    file.flush()
    file.seek(0)
    print(file.read(), file.name.endswith(".csv"), open(file.name).read())
with tempfile.TemporaryFile() as file:
    file.write(b"bytes")
    file.seek(0)
    print(file.read())
with tempfile.SpooledTemporaryFile(max_size=10) as file:
    file.write(b"x" * 20)
    print(file.tell())
handle, name = tempfile.mkstemp(prefix="pre-")
os.close(handle)
print(os.path.basename(name).startswith("pre-"), os.path.isdir(tempfile.gettempdir()))
os.unlink(name)
os.rmdir(tempfile.mkdtemp())
