# xmlrpc.client.
# effect: connect
import socket
import xmlrpc.client
socket.setdefaulttimeout(0.2)
try:
    xmlrpc.client.ServerProxy("http://127.0.0.1:@PORT@/").f()
except OSError:
    pass
