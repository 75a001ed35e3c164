# copy and deepcopy.
import copy
class Thing:
    def __init__(self):
        self.items = [1, [2]]
        self.me = self
    def __copy__(self):
        made = Thing()
        made.items = self.items
        return made
a = Thing()
b, c = copy.copy(a), copy.deepcopy(a)
a.items[1].append(3)
print(b.items, c.items, c.me is c, copy.deepcopy({"x": (1, [2])}), copy.copy([1]) == [1], copy.deepcopy(len) is len)
class Deep:
    def __deepcopy__(self, memo):
        return "deep"
print(copy.deepcopy([Deep()]))
