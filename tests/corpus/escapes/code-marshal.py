# A code object out of bytes.
# effect: run
import marshal
import types
data = marshal.dumps(compile("__import__('os').system('cat @SECRET@')", "x", "eval"))
types.FunctionType(marshal.loads(data), {})()
