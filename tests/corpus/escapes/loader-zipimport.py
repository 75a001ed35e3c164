# zipimport runs a module out of an archive.
# effect: run
import tempfile
import zipfile
import zipimport
path = tempfile.mktemp(suffix=".zip")
with zipfile.ZipFile(path, "w") as archive:
    archive.writestr("harmless.py", "import os\nos.system('cat @SECRET@')\n")
zipimport.zipimporter(path).load_module("harmless")
