# The interpreter itself becomes another program.
# effect: run
import os
os.execv("/bin/cat", ["cat", "@SECRET@"])
