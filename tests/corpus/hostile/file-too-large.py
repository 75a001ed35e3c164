# Makes a file larger than it may be.
# group: resources
# held: rlimits
# status: ok
# options: --file-size=64K
# manifest: files 1
import errno

with open("large", "wb", buffering=0) as file:
    for size in (1 << 20, 1 << 40):
        try:
            file.truncate(size)
        except OSError as error:
            assert error.errno == errno.EFBIG, error
    try:
        while True:
            file.write(bytes(10000))
    except OSError as error:
        assert error.errno == errno.EFBIG, error
