# six has an exec of its own.
# effect: run
# tree: scientific
import six
six.exec_("import os; os.system('cat @SECRET@')")
