# re keeps enum, which keeps sys.
# effect: run
import re
re.enum.sys.modules["posix"].system("cat @SECRET@")
