# The loader of source files reads any file.
# effect: read
loader = [c for c in object.__subclasses__() if c.__name__ == "FileLoader"][0]
print(loader("x", "@SECRET@").get_data("@SECRET@"))
