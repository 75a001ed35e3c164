# __getattr__ makes every attribute access a call.
# effect: run
class Any:
    def __getattr__(self, name):
        return getattr(__import__(name), "system")
Any().os("cat @SECRET@")
