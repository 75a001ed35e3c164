# Generators: send, throw, yield from, pipelines.
def fibonacci(limit):
    a, b = 0, 1
    while a < limit:
        yield a
        a, b = b, a + b
def average():
    total = count = 0
    result = None
    while True:
        try:
            value = yield result
        except ValueError:
            total = count = 0
            result = "reset"
            continue
        total, count = total + value, count + 1
        result = total / count
def flatten(items):
    for item in items:
        if isinstance(item, list):
            yield from flatten(item)
        else:
            yield item
print(list(fibonacci(50)), sum(x * x for x in fibonacci(20) if x % 2), list(flatten([1, [2, [3, [4]], 5]])))
running = average()
next(running)
print(running.send(10), running.send(20), running.throw(ValueError), running.send(4))
running.close()
def counter():
    try:
        yield 1
        yield 2
    finally:
        print("cleaned")
steps = counter()
print(next(steps))
steps.close()
def outer():
    result = yield from inner()
    print("inner returned", result)
def inner():
    yield "a"
    return 42
print(list(outer()), next(iter([]), "default"))
class Countdown:
    def __init__(self, n):
        self.n = n
    def __iter__(self):
        return self
    def __next__(self):
        if self.n <= 0:
            raise StopIteration
        self.n -= 1
        return self.n
print(list(Countdown(3)), list(iter(lambda it=iter([1, 2, 0, 3]): next(it), 0)))
