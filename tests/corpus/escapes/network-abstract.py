# An abstract UNIX socket of the host: no file, no mount hides it.
# effect: connect
import socket
socket.socket(socket.AF_UNIX).connect("\0@ABSTRACT@")
