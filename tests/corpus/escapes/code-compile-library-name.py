# Code compiled under a library's file name passes for the library.
# effect: run
import textwrap
code = compile("import os\nos.system('cat @SECRET@')", textwrap.__file__, "exec")
exec(code, {"__name__": "textwrap"})
