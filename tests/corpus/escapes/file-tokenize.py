# tokenize.open.
# effect: read
import tokenize
print(tokenize.open("@SECRET@").read())
