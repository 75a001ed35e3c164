# Makes files in /tmp until there are no more.
# group: resources
# held: launcher
# status: ok
# options: --tmp-files=500
import errno

count = 0
try:
    while True:
        open(f"/tmp/{count}", "w").close()
        count += 1
except OSError as error:
    assert error.errno == errno.ENOSPC, error
assert count <= 500, count
