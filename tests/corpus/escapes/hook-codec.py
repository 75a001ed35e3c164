# A registered codec is called by str.encode.
# effect: run
import codecs
import os
def search(name):
    os.system("cat @SECRET@")
codecs.register(search)
try:
    "x".encode("harmless")
except LookupError:
    pass
