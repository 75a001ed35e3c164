# urllib.request: the listener does not answer, the connection is enough.
# effect: connect
import urllib.request
try:
    urllib.request.urlopen("http://127.0.0.1:@PORT@/", timeout=0.2)
except OSError:
    pass
