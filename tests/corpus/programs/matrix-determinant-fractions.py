# Exact linear algebra with Fraction; primes; base conversion; Roman numerals.
from fractions import Fraction
def solve(a, b):
    n = len(a)
    m = [[Fraction(x) for x in row] + [Fraction(y)] for row, y in zip(a, b)]
    for i in range(n):
        p = next(r for r in range(i, n) if m[r][i])
        m[i], m[p] = m[p], m[i]
        m[i] = [x / m[i][i] for x in m[i]]
        for r in range(n):
            if r != i:
                m[r] = [x - m[r][i] * y for x, y in zip(m[r], m[i])]
    return [row[-1] for row in m]
print(solve([[2, 1], [1, 3]], [3, 5]))
def factor(n):
    found, d = [], 2
    while d * d <= n:
        while n % d == 0:
            found.append(d)
            n //= d
        d += 1
    return found + [n] * (n > 1)
print(factor(360360), factor(97))
def roman(n):
    text = ""
    for value, sign in ((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"),
                        (9, "IX"), (5, "V"), (4, "IV"), (1, "I")):
        text, n = text + sign * (n // value), n % value
    return text
print(roman(1994), roman(2024))
def base(n, b):
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    return digits[n] if n < b else base(n // b, b) + digits[n % b]
print(base(255, 2), base(123456, 36), int(base(123456, 36), 36))
