# weakref and finalizers.
import weakref
class Thing:
    def __init__(self, name):
        self.name = name
    def __del__(self):
        print("deleted", self.name)
thing = Thing("a")
reference = weakref.ref(thing, lambda _: print("gone"))
print(reference() is thing)
weakref.finalize(thing, print, "finalized")
cache = weakref.WeakValueDictionary(x=thing)
keys = weakref.WeakKeyDictionary({thing: 1})
print(len(cache), len(keys))
del thing
print(reference(), len(cache), len(keys), len(weakref.WeakSet()))
class Method:
    def call(self):
        return 5
m = Method()
print(weakref.WeakMethod(m.call)()(), weakref.proxy(m).call())
