# inspect keeps importlib.
# effect: run
import inspect
inspect.importlib.import_module("os").system("cat @SECRET@")
