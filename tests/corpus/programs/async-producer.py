# asyncio: a bounded worker pool, semaphores, streams of results, cancellation, exceptions.
import asyncio
async def fetch(n, gate):
    async with gate:
        await asyncio.sleep(0)
        if n == 3:
            raise ValueError(f"item {n}")
        return n * n
async def main():
    gate = asyncio.Semaphore(2)
    results = await asyncio.gather(*(fetch(n, gate) for n in range(5)), return_exceptions=True)
    print([repr(r) for r in results])
    done, pending = await asyncio.wait([asyncio.create_task(fetch(n, gate)) for n in range(2)])
    print(sorted(t.result() for t in done), len(pending))
    for task in asyncio.as_completed([fetch(1, gate)]):
        print(await task)
    try:
        async with asyncio.timeout(0.01):
            await asyncio.Event().wait()
    except TimeoutError:
        print("timeout")
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(fetch(3, gate))
    except* ValueError as errors:
        print([str(e) for e in errors.exceptions])
    condition, ready = asyncio.Condition(), []
    async def wait_for_it():
        async with condition:
            await condition.wait_for(lambda: ready)
            return "ready"
    waiter = asyncio.create_task(wait_for_it())
    await asyncio.sleep(0)
    async with condition:
        ready.append(1)
        condition.notify_all()
    print(await waiter)
    loop = asyncio.get_running_loop()
    future = loop.create_future()
    loop.call_soon(future.set_result, 7)
    print(await future, asyncio.current_task().get_name() != "")
    async def squares():
        for n in range(3):
            yield n * n
    print({n async for n in squares()}, [x async for x in squares() if x])
asyncio.run(main())
