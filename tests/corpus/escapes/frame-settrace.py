# A trace function is handed every frame, the libraries' too.
# effect: run
import sys
import textwrap
def trace(frame, event, argument):
    sys.settrace(None)
    frame.f_builtins["__import__"]("os").system("cat @SECRET@")
sys.settrace(trace)
textwrap.dedent("x")
