# A program that would ask, and copes with nobody there.
import sys
try:
    name = input("name? ")
except EOFError:
    name = "nobody"
except Exception as error:
    name = "nobody"
print()
print("hello", name, sys.stdin.read() == "")
