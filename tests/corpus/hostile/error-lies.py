# Fails with a failure that fails when it is asked what it is.
# group: stdout
# held: launcher
# status: error


class Lies(Exception):
    def __str__(self):
        raise Lies

    __repr__ = __format__ = __str__
    __module__ = property(__str__)
    __name__ = __qualname__ = "\x1b[2J" * 1000


raise Lies
