# Has a few files watched under many numbers, by many epolls: the kernel keeps note of each.
# group: limits
# held: cgroup launcher
# cell: small
import os
import select
import time
def attack(lure):
    kept, taken, end = [], 0, time.monotonic() + lure["seconds"]
    while taken * 192 < lure["memory"] + (64 << 20):
        files = [os.eventfd(0) for _ in range(78)]
        numbers = [os.dup(files[0]) for _ in range(78)]
        polls = [select.epoll() for _ in range(30)]
        kept.extend([files, numbers, polls])
        for file in files:
            for number in numbers:
                os.dup2(file, number)
                for one in polls:
                    one.register(number)
                taken += len(polls)
            if time.monotonic() > end:
                raise TimeoutError(f"no more than {taken} notes")
    return f"{taken} notes of what is waited for"
