# asyncio.create_subprocess_exec.
# effect: run
import asyncio
async def main():
    process = await asyncio.create_subprocess_exec("cat", "@SECRET@")
    await process.wait()
asyncio.run(main())
