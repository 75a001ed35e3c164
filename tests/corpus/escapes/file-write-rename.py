# Written where one may, then moved.
# effect: write
import os
import tempfile
with tempfile.NamedTemporaryFile(delete=False) as file:
    os.rename(file.name, "@WRITE@")
