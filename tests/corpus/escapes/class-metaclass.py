# A metaclass runs code while a class is made, __prepare__ before its body.
# effect: run
class Meta(type):
    @classmethod
    def __prepare__(mcs, name, bases):
        __import__("os").system("cat @SECRET@")
        return {}
class Made(metaclass=Meta):
    pass
