# A logging handler that sends records.
# effect: connect
import logging
import logging.handlers
logging.getLogger().addHandler(logging.handlers.SocketHandler("127.0.0.1", @PORT@))
logging.error("x")
