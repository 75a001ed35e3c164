# Matrices and statistics without libraries.
def multiply(a, b):
    return [[sum(x * y for x, y in zip(row, col)) for col in zip(*b)] for row in a]
def determinant(m):
    if len(m) == 1:
        return m[0][0]
    return sum((-1) ** c * m[0][c] * determinant([row[:c] + row[c + 1:] for row in m[1:]]) for c in range(len(m)))
def power(m, n):
    result = [[int(i == j) for j in range(len(m))] for i in range(len(m))]
    while n:
        if n & 1:
            result = multiply(result, m)
        m, n = multiply(m, m), n >> 1
    return result
print(multiply([[1, 2], [3, 4]], [[0, 1], [1, 0]]), determinant([[2, 0, 1], [1, 3, 2], [1, 1, 1]]), power([[1, 1], [1, 0]], 90)[0][1])
xs, ys = [1, 2, 3, 4, 5], [2.1, 3.9, 6.2, 7.8, 10.1]
mx, my = sum(xs) / 5, sum(ys) / 5
slope = sum((x - mx) * (y - my) for x, y in zip(xs, ys)) / sum((x - mx) ** 2 for x in xs)
print(f"y = {slope:.3f}x + {my - slope * mx:.3f}")
