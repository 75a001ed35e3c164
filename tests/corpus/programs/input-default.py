# A program that would ask, and copes with nobody there.
# difference: input() is refused at once and its prompt is not printed; programs see an exception as they would see the end of the input
import sys
try:
    name = input("name? ")
except EOFError:
    name = "nobody"
except Exception as error:
    name = "nobody"
print()
print("hello", name, sys.stdin.read() == "")
