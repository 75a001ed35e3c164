# runpy runs a file, or a module as a program.
# effect: run
import runpy
import tempfile
with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
    file.write("import os\nos.system('cat @SECRET@')\n")
runpy.run_path(file.name)
