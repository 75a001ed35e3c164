# Styles are fetched from URLs.
# effect: connect
# tree: scientific
import socket
import matplotlib.style
socket.setdefaulttimeout(0.2)
try:
    matplotlib.style.use("http://127.0.0.1:@PORT@/x")
except OSError:
    pass
