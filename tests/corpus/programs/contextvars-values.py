# contextvars.
import asyncio
import contextvars
request = contextvars.ContextVar("request", default="none")
async def handle(name):
    request.set(name)
    await asyncio.sleep(0)
    return request.get()
async def main():
    print(await asyncio.gather(*(handle(n) for n in "abc")), request.get())
asyncio.run(main())
token = request.set("x")
print(request.get(), contextvars.copy_context()[request])
request.reset(token)
print(request.get(), contextvars.Context().run(lambda: request.get()))
