# Fills /tmp with files that have no name any more.
# group: resources
# held: launcher cgroup
# status: ok memory
# options: --memory=128M --tmp-size=32M
import errno
import os

kept = []
try:
    while True:
        kept.append(open(f"/tmp/{len(kept)}", "wb", buffering=0))
        os.unlink(f"/tmp/{len(kept) - 1}")
        kept[-1].write(bytes(1 << 20))
        assert len(kept) < 64
except OSError as error:
    assert error.errno == errno.ENOSPC, error
