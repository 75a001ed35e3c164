# The backend can come from the environment too.
# effect: run
# tree: scientific
import os
import sys
import tempfile
folder = tempfile.mkdtemp()
with open(os.path.join(folder, "harmless_backend.py"), "w") as file:
    file.write("import os\nos.system('cat @SECRET@')\nfrom matplotlib.backends.backend_agg import *\n")
sys.path.insert(0, folder)
os.environ["MPLBACKEND"] = "module://harmless_backend"
import matplotlib.pyplot as plt
plt.figure()
