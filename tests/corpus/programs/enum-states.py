# Enumerations: values, flags, auto, methods.
from enum import Enum, Flag, IntEnum, auto, unique
@unique
class State(Enum):
    IDLE = "idle"
    BUSY = "busy"
    @property
    def label(self):
        return self.value.title()
class Level(IntEnum):
    LOW = 1
    HIGH = 10
class Access(Flag):
    READ = auto()
    WRITE = auto()
    ALL = READ | WRITE
print(State("idle"), State["BUSY"].label, [s.name for s in State], State.IDLE is State("idle"))
print(Level.HIGH > Level.LOW, Level.LOW + 1, sorted(Level), Access.READ | Access.WRITE, Access.READ in Access.ALL, repr(State.BUSY))
try:
    State("gone")
except ValueError as error:
    print(error)
Color = Enum("Color", "RED GREEN")
print(list(Color), len(Color))
