# A module of the program's own, written and imported.
import os
import sys
os.mkdir("pkg")
with open("pkg/__init__.py", "w") as file:
    file.write("from .core import answer\nVERSION = '1.0'\n")
with open("pkg/core.py", "w") as file:
    file.write("def answer():\n    return 42\n")
sys.path.insert(0, os.getcwd())
import pkg
from pkg.core import answer
print(pkg.answer(), answer(), pkg.VERSION, pkg.core.__name__)
