# logging with style "{" formats with the record's attributes.
# effect: env
import logging
handler = logging.StreamHandler()
handler.setFormatter(logging.Formatter("{msg.choice.__func__.__globals__[_os].environ}", style="{"))
import random
record = logging.LogRecord("n", 40, "p", 1, random.Random(), (), None)
print(handler.formatter._style.format(record))
