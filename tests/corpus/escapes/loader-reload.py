# A module's loader is exchanged and used by importlib.reload.
# effect: run
import importlib
import importlib.machinery
import os
import sys
import colorsys
class Finder:
    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.ModuleSpec(name, self) if name == "colorsys" else None
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        os.system("cat @SECRET@")
sys.meta_path.insert(0, Finder())
importlib.reload(colorsys)
