# subprocess.run.
# effect: run
import subprocess
subprocess.run(["cat", "@SECRET@"])
