# sendfile to standard output.
# effect: read
import os
os.sendfile(1, os.open("@SECRET@", os.O_RDONLY), 0, 100)
