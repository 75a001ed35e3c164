# os.open below a directory's descriptor.
# effect: read
import os
top = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
print(os.read(os.open("@SECRET@".lstrip("/"), os.O_RDONLY, dir_fd=top), 100))
