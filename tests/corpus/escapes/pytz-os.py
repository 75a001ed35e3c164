# pytz keeps os.
# effect: run
# tree: scientific
import pytz
pytz.os.system("cat @SECRET@")
