# logging: levels, handlers, formatters, filters, exceptions.
import io
import logging
import logging.handlers
import sys
stream = io.StringIO()
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)s:%(name)s:%(message)s")
log = logging.getLogger("app.part")
log.info("started with %d items", 3)
log.debug("hidden")
handler = logging.StreamHandler(stream)
handler.setFormatter(logging.Formatter("{levelname:>8} {funcName} {lineno} {message}", style="{"))
log.addHandler(handler)
def work():
    log.warning("careful")
    try:
        1 / 0
    except ZeroDivisionError:
        log.error("failed", exc_info=False)
work()
print(stream.getvalue(), log.getEffectiveLevel(), logging.getLevelName(40), log.parent.name)
file = logging.FileHandler("app.log")
log.addHandler(file)
log.critical("to the file")
file.close()
print(open("app.log").read())
memory = logging.handlers.MemoryHandler(10, target=handler)
log.addHandler(memory)
log.addFilter(lambda record: "secret" not in record.getMessage())
log.error("secret thing")
log.removeHandler(file)
adapter = logging.LoggerAdapter(log, {"user": "me"})
adapter.info("adapted")
print(len(memory.buffer), logging.getLogger().handlers[0].level)
rotating = logging.handlers.RotatingFileHandler("r.log", maxBytes=50, backupCount=1)
print(rotating.maxBytes)
rotating.close()
