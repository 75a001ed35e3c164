# re: groups, substitution, flags, verbose patterns.
import re
log = "2024-01-05 ERROR disk full\n2024-02-10 INFO started\n2024-03-15 ERROR timeout: 30s"
for match in re.finditer(r"(?P<date>\d{4}-\d\d-\d\d) (?P<level>ERROR) (.+)", log):
    print(match["date"], match.group(3), match.span(), match.groupdict())
print(re.sub(r"(\d+)-(\d+)-(\d+)", r"\3.\2.\1", log.split("\n")[0]), re.split(r"[,;\s]+", "a, b;c  d"), re.findall(r"\b\w{5}\b", log))
print(re.sub(r"\d+", lambda m: str(int(m.group()) * 2), "a1b22"), re.fullmatch(r"[\w.]+@[\w.]+\.\w+", "me@host.org") is not None)
pattern = re.compile(r"""
    ^\s*(?P<key>\w+)   # key
    \s*=\s*(?P<value>.*?)\s*$""", re.VERBOSE | re.MULTILINE)
print(pattern.findall("a = 1\n b= two words "), pattern.flags & re.M != 0)
print(re.escape("a.b*c"), re.match("(a)?(b)", "b").groups(), re.search("(?<=x)y(?!z)", "xyz xya").start(), re.subn("a", "b", "banana"))
try:
    re.compile("(")
except re.error as error:
    print("bad pattern:", error)
print(re.findall(r"(?i)python", "Python PYTHON"), re.sub(r"(?s)<.*?>", "", "<b>bold</b>"), re.split("(,)", "a,b"))
