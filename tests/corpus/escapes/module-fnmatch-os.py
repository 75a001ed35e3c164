# So does fnmatch.
# effect: run
import fnmatch
fnmatch.os.system("cat @SECRET@")
