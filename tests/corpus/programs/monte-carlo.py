# Monte Carlo, game of life, mandelbrot in characters.
import random
random.seed(7)
inside = sum(random.random() ** 2 + random.random() ** 2 <= 1 for _ in range(20000))
print(4 * inside / 20000)
cells = {(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)}
for _ in range(8):
    near = {}
    for x, y in cells:
        for dx in (-1, 0, 1):
            for dy in (-1, 0, 1):
                if dx or dy:
                    near[x + dx, y + dy] = near.get((x + dx, y + dy), 0) + 1
    cells = {p for p, n in near.items() if n == 3 or n == 2 and p in cells}
print(sorted(cells))
for y in range(-6, 7, 2):
    line = ""
    for x in range(-20, 8):
        z, c = 0, complex(x / 10, y / 6)
        n = 0
        while abs(z) < 2 and n < 30:
            z, n = z * z + c, n + 1
        line += " .:#"[min(n // 8, 3)]
    print(line)
