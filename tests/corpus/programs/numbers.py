# Integers, floats, complex numbers and rounding.
import math
print(7 // 2, -7 // 2, 7 % 3, -7 % 3, divmod(17, 5), 2 ** 100, pow(3, 200, 13), round(2.5), round(3.14159, 2))
print(0.1 + 0.2, math.isclose(0.1 + 0.2, 0.3), (1.5).as_integer_ratio(), float("inf"), float("nan") != float("nan"), 1e308 * 10)
print(int("ff", 16), int("0b101", 0), bin(10), oct(8), hex(255), (1000).bit_length(), (255).to_bytes(2, "big"), int.from_bytes(b"\x01\x00", "little"))
print((3 + 4j) * 2, abs(3 + 4j), (3 + 4j).conjugate(), complex("1+2j"))
print(math.factorial(20), math.gcd(48, 36), math.lcm(4, 6), math.comb(10, 3), math.perm(5, 2), math.prod([1, 2, 3, 4]), math.isqrt(99))
print(math.sqrt(2), math.hypot(3, 4), math.log2(1024), math.degrees(math.pi), math.floor(-2.5), math.ceil(-2.5), math.trunc(-2.5), math.fsum([0.1] * 10))
