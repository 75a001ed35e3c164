# The importer of built-in modules gives a fresh posix.
# effect: run
import importlib.machinery
importlib.machinery.BuiltinImporter.load_module("posix").system("cat @SECRET@")
