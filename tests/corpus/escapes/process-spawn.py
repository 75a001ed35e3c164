# os.spawnv.
# effect: run
import os
os.spawnv(os.P_WAIT, "/bin/cat", ["cat", "@SECRET@"])
