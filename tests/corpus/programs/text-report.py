# Word counts and a report from a text of its own.
import re
import string
from collections import Counter
text = """It was the best of times, it was the worst of times, it was the age of wisdom,
it was the age of foolishness, it was the epoch of belief"""
words = re.findall(r"[a-z']+", text.lower())
count = Counter(words)
print(f"{'word':<12}{'count':>6}{'share':>8}")
for word, n in count.most_common(5):
    print(f"{word:<12}{n:>6}{n / len(words):>8.1%} {'#' * n}")
print(len(words), len(set(words)), max(words, key=len), sum(map(len, words)) / len(words), text.count("\n"), text.translate(str.maketrans("", "", string.punctuation)).split()[:6])
