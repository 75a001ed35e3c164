# The C module beneath.
# effect: connect
import _socket
_socket.socket().connect(("127.0.0.1", @PORT@))
