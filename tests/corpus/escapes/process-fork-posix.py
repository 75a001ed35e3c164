# fork of the module posix, found among the loaded modules.
# effect: fork
import sys
posix = sys.modules["posix"]
if posix.fork() == 0:
    posix.write(1, b"@TOKEN@\n")
    posix._exit(0)
posix.wait()
