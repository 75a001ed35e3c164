# A hard link next to one's own files.
# effect: read
import os
import tempfile
link = os.path.join(tempfile.mkdtemp(), "link")
os.link("@SECRET@", link)
print(open(link).read())
