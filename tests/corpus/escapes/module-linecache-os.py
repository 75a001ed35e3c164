# linecache keeps os under its own name.
# effect: run
# until: 3.12
import linecache
linecache.os.system("cat @SECRET@")
