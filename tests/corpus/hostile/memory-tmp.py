# Fills /tmp.
# group: resources
# held: launcher cgroup
# status: ok memory
# options: --memory=128M --tmp-size=32M
import errno

try:
    with open("/tmp/big", "wb", buffering=0) as file:
        while True:
            file.write(bytes(1 << 20))
except OSError as error:
    assert error.errno in (errno.ENOSPC, errno.EFBIG), error
