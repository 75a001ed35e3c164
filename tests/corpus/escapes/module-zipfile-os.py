# zipfile keeps os.
# effect: run
import zipfile
zipfile.os.system("cat @SECRET@")
