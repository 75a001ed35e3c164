# types: namespaces, modules, dynamic classes, method binding.
import types
space = types.SimpleNamespace(a=1, b="x")
space.c = [1]
print(space, vars(space), types.MappingProxyType({"k": 1})["k"])
module = types.ModuleType("made", "doc")
module.value = 5
print(module.value, module.__name__, isinstance(len, types.BuiltinFunctionType), isinstance(lambda: 0, types.FunctionType))
class Thing: pass
thing = Thing()
thing.hello = types.MethodType(lambda self: type(self).__name__, thing)
print(thing.hello(), types.new_class("New", (Thing,), {}, lambda ns: ns.update(x=1)).x, isinstance(5, types.NoneType), types.GenericAlias(list, (int,)))
try:
    types.MappingProxyType({})["x"] = 1
except TypeError as error:
    print(error)
