# logging.config from a dictionary.
import logging
import logging.config
logging.config.dictConfig({
    "version": 1,
    "formatters": {"short": {"format": "%(levelname)s %(message)s"}},
    "handlers": {"out": {"class": "logging.StreamHandler", "formatter": "short", "stream": "ext://sys.stdout"}},
    "loggers": {"job": {"handlers": ["out"], "level": "DEBUG", "propagate": False}},
})
logging.getLogger("job").debug("hello")
logging.getLogger("job").exception("odd", exc_info=False)
