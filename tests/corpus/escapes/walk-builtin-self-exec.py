# The same through len, getattr with a built name, and exec.
# effect: run
module = getattr(len, "__se" + "lf__")
module.exec("import os\nos.system('cat @SECRET@')")
