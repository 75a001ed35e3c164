# A lazy pipeline of generators over lines of a file, with batching and a running total.
import itertools
with open("numbers.txt", "w") as file:
    file.writelines(f"{n},{n * n}\n" for n in range(1, 21))
def read(path):
    with open(path) as lines:
        yield from (tuple(map(int, line.split(","))) for line in lines)
def batched(items, size):
    items = iter(items)
    while batch := list(itertools.islice(items, size)):
        yield batch
even = (pair for pair in read("numbers.txt") if pair[0] % 2 == 0)
for batch in batched(even, 4):
    print(len(batch), sum(square for _, square in batch))
print(list(itertools.accumulate(n for n, _ in read("numbers.txt")))[-1], next((n for n, s in read("numbers.txt") if s > 50), None))
