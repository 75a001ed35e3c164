# getattr, setattr, vars, dir, type, id, callable as ordinary programs use them.
class Config:
    debug = False
    def __init__(self, **options):
        for name, value in options.items():
            setattr(self, name, value)
    def to_dict(self):
        return {name: getattr(self, name) for name in vars(self)}
config = Config(host="h", port=1)
print(config.to_dict(), config.__dict__, hasattr(config, "debug"), getattr(config, "missing", None), [n for n in dir(config) if not n.startswith("_")])
delattr(config, "port")
print(vars(config), callable(config.to_dict), type(config).__name__, type(config) is Config, config.__class__.__name__, isinstance(config, (int, Config)), id(config) == id(config))
print(__name__, Config.__module__, Config.__doc__, len.__name__, "x".__class__, (5).__add__(3), [].__len__(), object().__hash__() != 0, "abc".__contains__("a"))
for operation in ("upper", "title"):
    print(getattr("some text", operation)())
def dispatch(kind):
    return globals().get(f"handle_{kind}", lambda: "unknown")()
def handle_a():
    return "a handled"
print(dispatch("a"), dispatch("b"), Config.__init__.__name__, Config.__mro__[-1].__name__, Config.to_dict.__qualname__)
