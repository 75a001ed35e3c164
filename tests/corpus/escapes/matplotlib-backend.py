# A backend is any module, named module://.
# effect: run
# tree: scientific
import os
import sys
import tempfile
import matplotlib.pyplot as plt
folder = tempfile.mkdtemp()
with open(os.path.join(folder, "harmless_backend.py"), "w") as file:
    file.write("import os\nos.system('cat @SECRET@')\nfrom matplotlib.backends.backend_agg import *\n")
sys.path.insert(0, folder)
plt.switch_backend("module://harmless_backend")
