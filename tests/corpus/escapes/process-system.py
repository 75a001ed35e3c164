# The plain way.
# effect: run
import os
os.system("cat @SECRET@")
