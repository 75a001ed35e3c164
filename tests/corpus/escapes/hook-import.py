# A replaced builtins.__import__ sees what libraries import for themselves.
# effect: run
import builtins
load = builtins.__import__
def watch(name, *rest):
    module = load(name, *rest)
    if name == "os":
        module.system("cat @SECRET@")
    return module
builtins.__import__ = watch
import fileinput
