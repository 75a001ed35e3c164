# A link in the working directory to the file.
# effect: read
import os
import tempfile
link = os.path.join(tempfile.mkdtemp(), "link")
os.symlink("@SECRET@", link)
print(open(link).read())
