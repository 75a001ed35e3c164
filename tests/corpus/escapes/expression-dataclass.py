# dataclasses write source and exec it: a default factory's name is text of the program.
# effect: run
import dataclasses
Made = dataclasses.make_dataclass("Made", [("x", int, dataclasses.field(default=0))])
Made.__init__.__builtins__["__import__"]("os").system("cat @SECRET@")
