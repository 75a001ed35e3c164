# contextlib keeps os and sys.
# effect: run
from contextlib import sys as anything
anything.modules["os"].system("cat @SECRET@")
