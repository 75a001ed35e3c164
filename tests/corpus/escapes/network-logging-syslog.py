# The syslog handler sends datagrams.
# effect: connect
import logging
import logging.handlers
logging.getLogger().addHandler(logging.handlers.SysLogHandler(("127.0.0.1", @PORT@)))
logging.error("x")
