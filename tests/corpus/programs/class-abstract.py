# Abstract base classes, mixins, and cooperative super().
from abc import ABC, abstractmethod
class Repository(ABC):
    @abstractmethod
    def get(self, key): ...
    @property
    @abstractmethod
    def size(self): ...
class Logged:
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.log = []
    def note(self, text):
        self.log.append(text)
class Memory(Logged, Repository):
    def __init__(self, data):
        super().__init__()
        self.data = data
    def get(self, key):
        self.note(f"get {key}")
        return self.data.get(key)
    @property
    def size(self):
        return len(self.data)
try:
    Repository()
except TypeError as error:
    print("abstract:", str(error).split(" with ")[0])
memory = Memory({"a": 1})
print(memory.get("a"), memory.get("b"), memory.size, memory.log, [c.__name__ for c in Memory.__mro__])
class Plugin:
    registry = {}
    def __init_subclass__(cls, /, key=None, **kwargs):
        super().__init_subclass__(**kwargs)
        Plugin.registry[key or cls.__name__.lower()] = cls
class Csv(Plugin): pass
class Excel(Plugin, key="xlsx"): pass
print({k: c.__name__ for k, c in Plugin.registry.items()})
