# The environment in the process's own memory, found by its map.
# effect: env
import re
for line in open("/proc/self/maps"):
    if "[stack]" in line:
        begin, end = [int(x, 16) for x in line.split()[0].split("-")]
        with open("/proc/self/mem", "rb") as memory:
            memory.seek(begin)
            print(re.findall(rb"ESCAPE_SECRET=\w+", memory.read(end - begin)))
