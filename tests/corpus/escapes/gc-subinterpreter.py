# A second interpreter has modules, builtins and hooks of its own.
# effect: run
import _xxsubinterpreters
other = _xxsubinterpreters.create()
_xxsubinterpreters.run_string(other, "import os\nos.system('cat @SECRET@')")
