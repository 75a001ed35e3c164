# numpy.testing.runstring executes text.
# effect: run
# tree: scientific
import numpy.testing
numpy.testing.runstring("import os; os.system('cat @SECRET@')", {})
