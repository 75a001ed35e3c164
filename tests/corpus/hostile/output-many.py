# Leaves more files than it may.
# group: output
# held: launcher
# status: ok
# options: --output-files=1000
import errno

try:
    for number in range(10000):
        open(f"{number}", "w").close()
except OSError as error:
    assert error.errno == errno.ENOSPC, error
else:
    raise SystemExit("there was room for ten thousand files")
