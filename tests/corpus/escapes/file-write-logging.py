# A logging handler opens a file.
# effect: write
import logging
logging.basicConfig(filename="@WRITE@")
logging.error("x")
