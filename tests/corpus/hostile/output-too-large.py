# Fills /output.
# group: resources
# held: launcher
# status: ok
# options: --output-size=256K
# manifest: files 1
import errno

try:
    with open("large", "wb", buffering=0) as file:
        while True:
            file.write(bytes(10000))
except OSError as error:
    assert error.errno == errno.ENOSPC, error
