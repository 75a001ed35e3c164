# Rounding, money and tables with decimal, locale-free.
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, InvalidOperation
rows = [("Coffee", 3, "2.95"), ("Bagel", 12, "1.105"), ("Water", 1, "0.335")]
total = Decimal(0)
print(f"{'item':<10}|{'n':>4}|{'each':>8}|{'sum':>9}")
print("-" * 10 + "+" + "-" * 4 + "+" + "-" * 8 + "+" + "-" * 9)
for name, n, each in rows:
    amount = (Decimal(each) * n).quantize(Decimal("0.01"), ROUND_HALF_UP)
    total += amount
    print(f"{name:<10}|{n:>4d}|{Decimal(each):>8.3f}|{amount:>9,.2f}")
print("total", total, [Decimal("2.5").quantize(Decimal(1), mode) for mode in (ROUND_HALF_EVEN, ROUND_HALF_UP, ROUND_DOWN)])
try:
    Decimal("x")
except InvalidOperation as error:
    print(type(error).__name__)
print(Decimal("1.10").as_tuple(), Decimal("12345.678").to_eng_string(), int(Decimal("7.9")), Decimal.from_float(0.1) == Decimal(0.1), sum(map(Decimal, ("0.1",) * 3)), round(Decimal("1.25"), 1), Decimal("Infinity") > 5)
