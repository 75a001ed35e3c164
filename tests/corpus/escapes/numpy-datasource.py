# numpy's DataSource fetches URLs.
# effect: connect
# tree: scientific
import socket
import numpy
socket.setdefaulttimeout(0.2)
try:
    numpy.loadtxt("http://127.0.0.1:@PORT@/x.txt")
except OSError:
    pass
