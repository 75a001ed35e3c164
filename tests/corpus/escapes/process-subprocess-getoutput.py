# subprocess.getoutput, imported by a from-import.
# effect: run
from subprocess import getoutput
print(getoutput("cat @SECRET@"))
