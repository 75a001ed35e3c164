# A function of a library knows its module's real builtins, whatever the program's own are.
# effect: run
import json
json.dumps.__globals__["__builtins__"]["__import__"]("os").system("cat @SECRET@")
