# Formatting: str.format, f-strings, percent, format specifications.
name, value, when = "total", 1234567.891, {"year": 2024}
print("{:>12}|{:<12}|{:^12}".format(name, name, name))
print("{0} {1:,.2f} {0!r} {when[year]}".format(name, value, when=when))
print(f"{value:,.1f} {value:e} {value:.3g} {255:#x} {255:08b} {0.256:.1%} {name!r:>10} {value=:.2f}")
print("%s %5d %-8s| %06.2f %x %%" % (name, 42, "left", 3.14159, 255))
width = 10
print(f"{'nested':{'*'}^{width + 4}}")
print("{a.real} {b[0]}".format(a=3 + 4j, b=[7]), format(12345.678, "_.1f"))
rows = [("apple", 3, 0.5), ("banana", 12, 0.25)]
for fruit, count, price in rows:
    print(f"{fruit:<10}{count:>5}{price:>8.2f}{count * price:>10.2f}")
print("{x}-{y}".format_map({"x": 1, "y": 2}))
