# Palindromes, anagrams, ciphers, run lengths, number words.
from collections import Counter
from itertools import groupby
def palindrome(text):
    letters = [c for c in text.lower() if c.isalnum()]
    return letters == letters[::-1]
def caesar(text, by):
    return "".join(chr((ord(c) - base + by) % 26 + base) if (base := 97 if c.islower() else 65 if c.isupper() else 0) else c for c in text)
print(palindrome("A man, a plan, a canal: Panama!"), Counter("listen") == Counter("silent"), caesar("Hello, World", 3), caesar(caesar("abc", 5), -5))
print("".join(f"{len(list(g))}{c}" for c, g in groupby("aaabccd")), " ".join(w[::-1] for w in "one two".split()), sorted("banana", key="nab".index), "%s" * 2 % ("a", "b"))
words = "zero one two three four five six seven eight nine".split()
print(" ".join(words[int(d)] for d in str(3072)), max("the quick brown".split(), key=len), {c: "aeiou".count(c) for c in "hello"}, "abc" "def", "a" < "b" < "c", "é" > "z")
text = list("immutable")
text[0:2] = "IM"
print("".join(text), "x".join("abc"), "abcabc".rfind("b"), "Title Case".swapcase(), "a\\b", 'it\'s', "\x41\u00e9\t|", str(b"x"), repr("a'b"), "end".endswith(("d", "x")))
