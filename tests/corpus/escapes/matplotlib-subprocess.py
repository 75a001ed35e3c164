# matplotlib keeps subprocess.
# effect: run
# tree: scientific
import matplotlib
matplotlib.subprocess.run(["cat", "@SECRET@"])
