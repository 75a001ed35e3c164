# matplotlib keeps subprocess.
# effect: run
# tree: scientific
import matplotlib
print(matplotlib.subprocess.run(["cat", "@SECRET@"], capture_output=True, text=True).stdout)
