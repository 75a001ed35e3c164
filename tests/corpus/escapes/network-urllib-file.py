# urllib.request also reads files.
# effect: read
import urllib.request
print(urllib.request.urlopen("file://@SECRET@").read())
