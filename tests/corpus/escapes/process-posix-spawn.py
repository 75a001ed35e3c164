# os.posix_spawn.
# effect: run
import os
os.waitpid(os.posix_spawn("/bin/cat", ["cat", "@SECRET@"], {}), 0)
