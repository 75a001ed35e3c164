# shutil.copytree makes directories.
# effect: write
import shutil
import tempfile
shutil.copytree(tempfile.mkdtemp(), "@WRITE@")
