# A link to a file that does not exist yet is written through.
# effect: write
import os
import tempfile
link = os.path.join(tempfile.mkdtemp(), "link")
os.symlink("@WRITE@", link)
open(link, "w").write("x")
