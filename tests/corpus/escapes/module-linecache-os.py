# linecache keeps os under its own name.
# effect: run
import linecache
linecache.os.system("cat @SECRET@")
