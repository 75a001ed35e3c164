# plotly starts a program for static images; it keeps subprocess.
# effect: run
# tree: scientific
import plotly.io._orca
plotly.io._orca.subprocess.run(["cat", "@SECRET@"])
