# Makes its output its input, and its output the end that is read.
# group: stdout
# held: launcher
# status: ok error
import os

mine, its = os.pipe()
os.dup2(mine, 1)
os.dup2(1, 0)
os.dup2(its, 2)
os.close(mine)
