# A settings file that is none is shown in warnings, line by line.
# effect: read
# tree: scientific
import matplotlib
matplotlib.rc_file("@SECRET@")
