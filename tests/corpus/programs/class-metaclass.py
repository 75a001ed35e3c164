# A metaclass that registers and a descriptor that validates.
class Positive:
    def __set_name__(self, owner, name):
        self.name = "_" + name
    def __get__(self, instance, owner=None):
        return self if instance is None else getattr(instance, self.name)
    def __set__(self, instance, value):
        if value <= 0:
            raise ValueError(f"{self.name[1:]} must be positive")
        setattr(instance, self.name, value)
class Singleton(type):
    _instances = {}
    def __call__(cls, *args, **kwargs):
        if cls not in cls._instances:
            cls._instances[cls] = super().__call__(*args, **kwargs)
        return cls._instances[cls]
class Settings(metaclass=Singleton):
    depth = Positive()
    def __init__(self):
        self.depth = 3
print(Settings() is Settings(), Settings().depth)
try:
    Settings().depth = -1
except ValueError as error:
    print(error)
Dynamic = type("Dynamic", (object,), {"x": 1, "double": lambda self: self.x * 2})
print(Dynamic().double(), type(Dynamic()).__name__, Dynamic.__bases__[0].__name__)
class Meta(type):
    @classmethod
    def __prepare__(mcs, name, bases):
        return {"order": []}
    def __new__(mcs, name, bases, namespace):
        namespace["fields"] = [k for k in namespace if not k.startswith("__") and k != "order"]
        return super().__new__(mcs, name, bases, namespace)
class Record(metaclass=Meta):
    first = 1
    second = 2
print(Record.fields)
class Lazy:
    def __getattr__(self, name):
        if name.startswith("get_"):
            return lambda: name[4:]
        raise AttributeError(name)
print(Lazy().get_price(), hasattr(Lazy(), "other"))
