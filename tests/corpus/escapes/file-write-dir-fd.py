# os.open with O_CREAT below a descriptor of the root.
# effect: write
import os
top = os.open("/", os.O_PATH)
os.open("@WRITE@"[1:], os.O_CREAT | os.O_RDWR, dir_fd=top)
