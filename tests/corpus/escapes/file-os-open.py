# os.open and os.read.
# effect: read
import os
print(os.read(os.open("@SECRET@", os.O_RDONLY), 100))
