# A program in memory: memfd_create, then execve of the descriptor.
# effect: run
import os
handle = os.memfd_create("x")
os.write(handle, open("/bin/cat", "rb").read())
os.execve(handle, ["cat", "@SECRET@"], {})
