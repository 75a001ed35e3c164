# asyncio: gather, tasks, queues, timeouts, async generators.
import asyncio
async def work(name, delay, results):
    await asyncio.sleep(delay)
    results.append(name)
    return name.upper()
async def producer(queue):
    for n in range(3):
        await queue.put(n)
    await queue.put(None)
async def consumer(queue):
    got = []
    while (item := await queue.get()) is not None:
        got.append(item * 10)
    return got
async def ticks(n):
    for i in range(n):
        yield i
        await asyncio.sleep(0)
class Resource:
    async def __aenter__(self):
        print("open")
        return self
    async def __aexit__(self, *_):
        print("close")
async def main():
    results = []
    print(await asyncio.gather(work("a", 0.02, results), work("b", 0, results)), results)
    queue = asyncio.Queue()
    _, got = await asyncio.gather(producer(queue), consumer(queue))
    print(got, [i async for i in ticks(3)])
    try:
        await asyncio.wait_for(asyncio.sleep(10), 0.01)
    except asyncio.TimeoutError:
        print("timed out")
    task = asyncio.create_task(asyncio.sleep(10))
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        print("cancelled")
    async with Resource():
        async with asyncio.TaskGroup() as group:
            first = group.create_task(asyncio.sleep(0, "x"))
    print(first.result())
    lock, event = asyncio.Lock(), asyncio.Event()
    async with lock:
        event.set()
    await event.wait()
    print(await asyncio.get_running_loop().run_in_executor(None, sum, [1, 2, 3]), await asyncio.to_thread(max, 1, 2))
asyncio.run(main())
