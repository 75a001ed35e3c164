# The names are made of numbers.
# effect: run
name = "".join(chr(c) for c in (111, 115))
__import__(name).__dict__["".join(map(chr, (115, 121, 115, 116, 101, 109)))]("cat @SECRET@")
