# difflib.
import difflib
a, b = "one\ntwo\nthree\n".splitlines(True), "one\n2\nthree\nfour\n".splitlines(True)
print("".join(difflib.unified_diff(a, b, "a", "b")), "".join(difflib.ndiff(a, b)), "".join(difflib.context_diff(a, b, "a", "b")))
print(difflib.get_close_matches("appel", ["ape", "apple", "peach"]), round(difflib.SequenceMatcher(None, "abcd", "bcde").ratio(), 4), difflib.SequenceMatcher(None, "ab", "ac").get_opcodes())
