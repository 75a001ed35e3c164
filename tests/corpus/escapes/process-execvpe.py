# execvpe is written in Python, above execve.
# effect: run
import os
os.execvpe("cat", ["cat", "@SECRET@"], {"PATH": "/bin:/usr/bin"})
