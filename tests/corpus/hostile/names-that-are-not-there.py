# Asks for very many names that are not there: the kernel remembers each.
# group: resources
# held: cgroup
# status: ok memory
# options: --memory=64M
import os

for number in range(30000):
    os.path.exists(f"/tmp/{number:0200}")
