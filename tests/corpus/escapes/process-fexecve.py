# execve of a descriptor.
# effect: run
import os
os.execve(os.open("/bin/cat", os.O_RDONLY), ["cat", "@SECRET@"], {})
