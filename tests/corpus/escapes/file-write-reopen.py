# A descriptor is opened anew through /proc.
# effect: write
import os
held = os.open("@WRITE@", os.O_CREAT | os.O_WRONLY)
os.write(os.open(f"/proc/self/fd/{held}", os.O_WRONLY), b"x")
