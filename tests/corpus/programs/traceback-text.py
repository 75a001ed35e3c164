# traceback: formatting and printing of exceptions.
import sys
import traceback
def inner():
    raise ValueError("deep")
def outer():
    inner()
try:
    outer()
except ValueError as error:
    lines = traceback.format_exc().splitlines()
    print(lines[0], lines[-1], [f.name for f in traceback.extract_tb(error.__traceback__)][-2:], traceback.format_exception_only(error))
    print(sys.exc_info()[0].__name__, traceback.TracebackException.from_exception(error).exc_type.__name__)
    trace = error.__traceback__
    while trace.tb_next:
        trace = trace.tb_next
    print(trace.tb_lineno > 1, error.with_traceback(None).__traceback__)
print(traceback.extract_stack()[-1].lineno > 1, "outer" in "".join(lines))
