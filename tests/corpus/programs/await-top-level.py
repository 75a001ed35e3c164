# An event loop run several times, generators as coroutines' results.
import asyncio
async def add(a, b):
    await asyncio.sleep(0.001)
    return a + b
print(asyncio.run(add(1, 2)), asyncio.run(asyncio.wait_for(add(3, 4), 5)))
loop = asyncio.new_event_loop()
try:
    print(loop.run_until_complete(add(5, 5)))
finally:
    loop.close()
with asyncio.Runner() as runner:
    print(runner.run(add(8, 9)))
