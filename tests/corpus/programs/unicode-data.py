# unicodedata, locale-free sorting, emoji.
import unicodedata
print(unicodedata.name("é"), unicodedata.normalize("NFD", "é").encode(), unicodedata.category("A"), unicodedata.numeric("½"), unicodedata.lookup("EURO SIGN"), unicodedata.east_asian_width("中"))
print("".join(c for c in unicodedata.normalize("NFD", "Crème Brûlée") if not unicodedata.combining(c)), len("👍🏽"), "ß".upper(), "İ".lower(), sorted("äaz"), ascii("ü"), "\N{GREEK SMALL LETTER ALPHA}")
π = 3.14
größe = 2
print(π * größe)
