# linecache reads any file as source.
# effect: read
import linecache
print(linecache.getlines("@SECRET@"))
