# The clipboard's helper programs: pandas keeps subprocess.
# effect: run
# tree: scientific
import pandas.io.clipboard
pandas.io.clipboard.subprocess.run(["cat", "@SECRET@"])
