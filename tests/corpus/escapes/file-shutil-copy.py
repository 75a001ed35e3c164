# shutil copies into a place where one may read.
# effect: read
import shutil
import tempfile
copy = shutil.copy("@SECRET@", tempfile.mkdtemp())
print(open(copy).read())
