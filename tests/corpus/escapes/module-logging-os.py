# So does logging.
# effect: run
import logging
print(logging.os.popen("cat @SECRET@").read())
