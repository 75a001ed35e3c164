# A second interpreter has modules, builtins and hooks of its own.
# effect: run
try:
    import _interpreters as interpreters  # since Python 3.13
except ImportError:
    import _xxsubinterpreters as interpreters
other = interpreters.create()
interpreters.run_string(other, "import os\nos.system('cat @SECRET@')")
