# __set_name__ is called by the class statement.
# effect: run
class Hook:
    def __set_name__(self, owner, name):
        owner.__mro__[-1].__subclasses__
        __import__("os").system("cat @SECRET@")
class Owner:
    hook = Hook()
