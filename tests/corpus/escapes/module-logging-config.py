# logging.config builds objects from a dotted name, here a factory that starts a program.
# effect: run
import logging.config
logging.config.dictConfig({"version": 1, "formatters": {"f": {"()": "os.system", "command": "cat @SECRET@"}}})
