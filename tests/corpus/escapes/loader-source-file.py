# SourceFileLoader runs a file as a module.
# effect: run
import importlib.machinery
import tempfile
with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
    file.write("import os\nos.system('cat @SECRET@')\n")
importlib.machinery.SourceFileLoader("harmless", file.name).load_module()
