# site.addsitedir executes lines of .pth files that begin with "import".
# effect: run
import os
import site
import tempfile
folder = tempfile.mkdtemp()
with open(os.path.join(folder, "x.pth"), "w") as file:
    file.write("import os; os.system('cat @SECRET@')\n")
site.addsitedir(folder)
