# six imports by name.
# effect: run
# tree: scientific
import six
six._import_module("os").system("cat @SECRET@")
