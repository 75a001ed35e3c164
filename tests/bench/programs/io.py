import os
import tempfile

folder = tempfile.mkdtemp()
path = os.path.join(folder, "records")
RECORD = b"x" * 512


def work():
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    for _ in range(20_000):
        os.write(fd, RECORD)
    for i in range(20_000):
        os.lseek(fd, i * 7919 % 20_000 * len(RECORD), os.SEEK_SET)
        os.read(fd, len(RECORD))
    for i in range(20_000):
        os.pread(fd, len(RECORD), i * 7919 % 20_000 * len(RECORD))
        os.fstat(fd)
    os.close(fd)
    for _ in range(10_000):
        os.stat(path)
    os.unlink(path)
