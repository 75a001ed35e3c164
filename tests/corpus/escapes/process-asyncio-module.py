# asyncio keeps subprocess.
# effect: run
import asyncio
print(asyncio.subprocess.subprocess.check_output(["cat", "@SECRET@"]))
