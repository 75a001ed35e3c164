# The plain way.
# effect: read
print(open("@SECRET@").read())
