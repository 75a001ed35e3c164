# Closures, nonlocal, global, default arguments, keyword-only and positional-only parameters.
def make_counter(start=0):
    count = start
    def step(by=1):
        nonlocal count
        count += by
        return count
    return step
counter = make_counter(10)
print(counter(), counter(5), [f() for f in [lambda i=i: i * i for i in range(4)]])
total = 0
def add(*numbers, scale=1, **options):
    global total
    total += sum(numbers) * scale
    return sorted(options)
print(add(1, 2, scale=3, b=1, a=2), total)
def strict(a, b=2, /, c=3, *, d=4):
    return a, b, c, d
print(strict(1), strict(1, 5, d=9), strict(*[7, 8], **{"c": 0}))
try:
    strict(a=1)
except TypeError as error:
    print("TypeError", "positional-only" in str(error))
print((lambda *a, **k: (a, k))(1, 2, x=3), (lambda x: x if x < 2 else x * 2)(4))
if (n := len("walrus")) > 3:
    print(n)
def local_names():
    alpha, beta = 1, 2
    return sorted(locals())
print(local_names(), "counter" in globals())
