# Decorators with and without arguments, on functions and classes.
import functools
def logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        print("call", function.__name__, args, kwargs)
        return function(*args, **kwargs)
    return wrapper
def repeat(times):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args):
            return [function(*args) for _ in range(times)]
        return wrapper
    return decorate
@logged
@repeat(3)
def greet(name):
    """Says hello."""
    return f"hello {name}"
print(greet("you"), greet.__name__, greet.__doc__)
class Memo:
    def __init__(self, function):
        self.function, self.cache = function, {}
        functools.update_wrapper(self, function)
    def __call__(self, n):
        if n not in self.cache:
            self.cache[n] = self.function(n)
        return self.cache[n]
@Memo
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(60), len(fib.cache))
def tagged(**tags):
    def decorate(cls):
        cls.tags = tags
        return cls
    return decorate
@tagged(kind="x")
class Thing: pass
print(Thing.tags)
