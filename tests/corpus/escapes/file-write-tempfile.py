# tempfile takes a directory.
# effect: write
import os
import tempfile
handle, name = tempfile.mkstemp(dir=os.path.dirname("@WRITE@"))
os.replace(name, "@WRITE@")
