# importlib.util makes a module from a file of any name.
# effect: run
import importlib.util
import tempfile
with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
    file.write("import os\nos.system('cat @SECRET@')\n")
spec = importlib.util.spec_from_file_location("harmless", file.name)
spec.loader.exec_module(importlib.util.module_from_spec(spec))
