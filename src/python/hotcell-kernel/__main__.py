"""The program that "hotcell kernel" becomes: see hotcell/kernel.py."""
import os
import sys

os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")  # ipykernel loads a debugger, which would print a warning
try:
    from hotcell.kernel import main
except ImportError as error:
    print("hotcell: hotcell kernel needs the Debian packages python3-hotcell (or `make install`), python3-ipykernel and "
          f"python3-jupyter-client: {error}", file=sys.stderr)
    sys.exit(69)
sys.exit(main())
