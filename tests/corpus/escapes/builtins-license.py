# license() prints files whose names are attributes.
# effect: read
import _sitebuiltins
printer = _sitebuiltins._Printer("x", "x")
printer._Printer__filenames = ["@SECRET@"]
print(printer)
