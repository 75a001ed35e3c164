# savefig to any path.
# effect: write
# tree: scientific
import matplotlib.pyplot as plt
plt.figure().savefig("@WRITE@", format="svg")
