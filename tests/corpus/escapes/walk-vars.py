# vars() of a module, and of what it imported for itself.
# effect: run
import textwrap
vars(vars(textwrap)["re"])["enum"].sys.modules["os"].system("cat @SECRET@")
