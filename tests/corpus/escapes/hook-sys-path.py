# A module of its own on sys.path shadows a library that another library imports.
# effect: run
import os
import sys
import tempfile
folder = tempfile.mkdtemp()
with open(os.path.join(folder, "sndhdr.py"), "w") as file:
    file.write("import os\nos.system('cat @SECRET@')\n")
sys.path.insert(0, folder)
import sndhdr
