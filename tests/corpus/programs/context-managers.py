# with statements: own classes, contextlib, ExitStack, suppressing.
import contextlib
import io
class Timer:
    def __enter__(self):
        print("enter")
        return self
    def __exit__(self, kind, error, trace):
        print("exit", kind.__name__ if kind else None)
        return kind is ValueError
with Timer():
    raise ValueError
@contextlib.contextmanager
def section(name):
    print(f"<{name}>")
    try:
        yield name.upper()
    finally:
        print(f"</{name}>")
with section("a") as upper, section("b"):
    print(upper)
with contextlib.suppress(KeyError):
    {}["x"]
buffer = io.StringIO()
with contextlib.redirect_stdout(buffer):
    print("captured")
print(repr(buffer.getvalue()))
with contextlib.ExitStack() as stack:
    for name in "xy":
        stack.enter_context(section(name))
    stack.callback(print, "called back")
with contextlib.closing(io.StringIO("data")) as stream:
    print(stream.read())
with contextlib.nullcontext(5) as five:
    print(five)
