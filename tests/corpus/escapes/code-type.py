# types.CodeType with bytecode of one's own making.
# effect: run
import types
def work():
    return __import__("os").system("cat @SECRET@")
c = work.__code__
made = types.CodeType(0, 0, 0, 0, c.co_stacksize, c.co_flags, c.co_code, c.co_consts, c.co_names, (), "/usr/lib/python3.11/os.py",
                      "work", "work", 1, b"", b"", (), ())
types.FunctionType(made, {})()
