# print: separators, ends, files, flushing, progress.
import sys
print("a", "b", sep="-", end="!\n")
for n in range(3):
    print(f"\rstep {n}", end="", flush=True)
print()
print(*range(5), sep=", ")
print("to stderr", file=sys.stderr)
print(None, True, 1.0, [1, "two"], {"k": (1,)}, {1}, b"x", range(3), ..., len, type(1), sep="\n")
print("multi\nline", "tab\tbed", r"raw\n", """triple
quoted""")
