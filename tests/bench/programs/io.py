import os
import tempfile

folder = tempfile.mkdtemp()
path = os.path.join(folder, "records")
RECORD = b"x" * 4096
COUNT = 10_000


def work():
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    for _ in range(COUNT):
        os.write(fd, RECORD)
    for i in range(COUNT):
        os.lseek(fd, i * 7919 % COUNT * len(RECORD), os.SEEK_SET)
        os.read(fd, len(RECORD))
    for i in range(COUNT):
        os.pread(fd, len(RECORD), i * 7919 % COUNT * len(RECORD))
        os.fstat(fd)
    os.close(fd)
    for _ in range(COUNT):
        os.stat(path)
    os.unlink(path)
