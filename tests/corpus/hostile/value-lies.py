# Has a value that is not what it says, and that ends the process when it is asked.
# group: stdout
# held: launcher
# status: error
import os


class Lies(dict):
    def __repr__(self):
        os._exit(0)

    __str__ = _repr_html_ = _repr_json_ = _repr_mimebundle_ = __len__ = __iter__ = items = __repr__


Lies()
