# So does shutil.
# effect: run
from shutil import os as anything
anything.system("cat @SECRET@")
