# A finder on sys.meta_path is called by the importer, and makes modules out of nothing.
# effect: run
import importlib.machinery
import os
import sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.ModuleSpec(name, self) if name == "harmless" else None
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        os.system("cat @SECRET@")
sys.meta_path.insert(0, Finder())
import harmless
