"""Programs with await at their top level."""

COROUTINE = 0x80  # CO_COROUTINE: the code object has such an await


def run(parts, namespace, finish_tasks):
    """Run code objects in order inside one event loop; returns the value of the last. `finish_tasks`: also wait for the
    tasks that the program leaves running."""
    import asyncio

    async def cell():
        value = None
        for code in parts:
            value = eval(code, namespace)
            if code.co_flags & COROUTINE:
                value = await value
        if finish_tasks:
            await finish()
        return value

    async def finish():
        """Wait for the tasks. The exception of a task that fails becomes the program's, and ends the wait."""
        while tasks := asyncio.all_tasks() - {asyncio.current_task()}:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                if not task.cancelled():
                    task.result()

    return asyncio.run(cell())
