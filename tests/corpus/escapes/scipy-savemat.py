# scipy.io.savemat writes anywhere.
# effect: write
# tree: scientific
import scipy.io
scipy.io.savemat("@WRITE@", {"a": [1]}, appendmat=False)
