# multiprocessing's connections.
# effect: connect
from multiprocessing.connection import SocketClient
SocketClient(("127.0.0.1", @PORT@))
