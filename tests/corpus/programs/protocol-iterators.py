# Iterator protocols: __iter__, __reversed__, __missing__, __index__, __length_hint__, sentinel, slices.
class Poly:
    def __init__(self, *c):
        self.c = c
    def __reversed__(self):
        return reversed(self.c)
    def __getitem__(self, i):
        return Poly(*self.c[i]) if isinstance(i, slice) else self.c[i]
    def __call__(self, x):
        return sum(c * x ** i for i, c in enumerate(self.c))
    def __repr__(self):
        return " + ".join(f"{c}x^{i}" for i, c in enumerate(self.c) if c)
class Default(dict):
    def __missing__(self, key):
        self[key] = len(self)
        return self[key]
class Index:
    def __index__(self):
        return 2
p, ids = Poly(1, 0, 3), Default()
print(p, p(2), list(reversed(p)), p[1:], [*p], ids["a"], ids["b"], ids["a"], [10, 20, 30][Index()], hex(Index()), range(10)[2:8:3], slice(1, None).indices(5))
class Chain:
    def __init__(self, items):
        self.items = list(items)
    def __getattr__(self, name):
        return lambda *a: Chain(getattr(i, name)(*a) for i in self.items)
    def __iter__(self):
        yield from self.items
print(list(Chain(["a b", "c"]).upper().replace(" ", "-")))
class Ctx:
    def __enter__(self): return self
    def __exit__(self, *a): return False
    def __del__(self): pass
    def __sizeof__(self): return 1
    def __dir__(self): return ["only"]
    def __instancecheck__(self, other): return other == 5
with Ctx() as c:
    print(dir(c), isinstance(5, Ctx()), isinstance(6, Ctx()))
