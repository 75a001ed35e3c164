# pty.spawn.
# effect: run
import pty
pty.spawn(["/bin/cat", "@SECRET@"])
