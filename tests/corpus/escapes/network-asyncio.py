# asyncio.open_connection.
# effect: connect
import asyncio
async def main():
    await asyncio.open_connection("127.0.0.1", @PORT@)
asyncio.run(main())
