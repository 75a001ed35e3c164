# pandas.read_csv of an http: URL.
# effect: connect
# tree: scientific
import socket
import pandas
socket.setdefaulttimeout(0.2)
try:
    pandas.read_csv("http://127.0.0.1:@PORT@/x.csv")
except OSError:
    pass
