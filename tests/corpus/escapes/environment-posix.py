# The dict beneath os.environ.
# effect: env
import posix
print(posix.environ)
