# Takes memory that belongs to no process.
# group: resources
# held: seccomp cgroup
# status: memory error
# options: --memory=64M
import mmap

kept = []
while True:
    kept.append(mmap.mmap(-1, 1 << 20))
    kept[-1].write(b"x" * (1 << 20))
