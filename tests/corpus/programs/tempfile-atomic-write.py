# Atomic replacement of a file, lock files, reading in chunks, descriptors.
import contextlib
import os
import tempfile
@contextlib.contextmanager
def atomic(path):
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(path)))
    try:
        with os.fdopen(handle, "w") as file:
            yield file
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
with atomic("settings.txt") as file:
    file.write("one")
with contextlib.suppress(RuntimeError), atomic("settings.txt") as file:
    file.write("half")
    raise RuntimeError
print(open("settings.txt").read(), sorted(os.listdir(".")))
handle = os.open("lock", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
os.write(handle, b"1")
os.close(handle)
try:
    os.open("lock", os.O_CREAT | os.O_EXCL)
except FileExistsError:
    print("locked")
with open("big.bin", "wb") as file:
    file.truncate(100_000)
with open("big.bin", "rb") as file:
    print(sum(len(chunk) for chunk in iter(lambda: file.read(4096), b"")), os.fstat(file.fileno()).st_size)
reader, writer = os.pipe()
os.write(writer, b"through")
print(os.read(reader, 20))
