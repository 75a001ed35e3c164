# Breadth-first search, N queens, knapsack, primes, Levenshtein.
from collections import deque
grid = ["S.#.", "..#.", ".#..", "...E"]
def shortest(grid):
    waiting, seen = deque([((0, 0), 0)]), {(0, 0)}
    while waiting:
        (r, c), d = waiting.popleft()
        if grid[r][c] == "E":
            return d
        for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            p = (r + dr, c + dc)
            if 0 <= p[0] < 4 and 0 <= p[1] < 4 and grid[p[0]][p[1]] != "#" and p not in seen:
                seen.add(p)
                waiting.append((p, d + 1))
print(shortest(grid))
def queens(n, row=0, cols=frozenset(), a=frozenset(), b=frozenset()):
    if row == n:
        return 1
    return sum(queens(n, row + 1, cols | {c}, a | {row + c}, b | {row - c}) for c in range(n) if c not in cols and row + c not in a and row - c not in b)
print(queens(6))
def knapsack(items, capacity):
    best = [0] * (capacity + 1)
    for weight, value in items:
        for c in range(capacity, weight - 1, -1):
            best[c] = max(best[c], best[c - weight] + value)
    return best[-1]
print(knapsack([(1, 1), (3, 4), (4, 5), (5, 7)], 7))
sieve = bytearray([1]) * 200
sieve[:2] = b"\0\0"
for n in range(2, 15):
    if sieve[n]:
        sieve[n * n::n] = bytes(len(range(n * n, 200, n)))
print([n for n in range(200) if sieve[n]][-5:])
def distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
    return row[-1]
print(distance("kitten", "sitting"))
