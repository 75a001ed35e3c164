# Strings: the everyday methods.
text = "  The quick brown fox, jumps over; the lazy dog.  "
words = text.strip().lower().replace(",", "").replace(";", "").rstrip(".").split()
print(words, len(words), sorted(set(words)))
print("-".join(word.capitalize() for word in words))
print({word: words.count(word) for word in words if words.count(word) > 1})
print("abc".center(11, "*"), "42".zfill(5), "a,b,,c".split(","), "straße".casefold(), "x=1".partition("="))
print("tabs\tare\there".expandtabs(4), "line1\nline2".splitlines(), "hello".translate(str.maketrans("el", "ip")))
print("caf\u00e9".encode("utf-8"), b"caf\xc3\xa9".decode(), "ab12".isalnum(), "١٢".isdigit(), "prefix-x".removeprefix("prefix-"))
