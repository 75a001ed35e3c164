"""Programs with await at their top level."""

COROUTINE = 0x80  # CO_COROUTINE: the code object has such an await


def run(parts, namespace):
    """Run code objects in order inside one event loop; the value of the last."""
    import asyncio

    async def cell():
        value = None
        for code in parts:
            value = eval(code, namespace)
            if code.co_flags & COROUTINE:
                value = await value
        return value

    return asyncio.run(cell())
