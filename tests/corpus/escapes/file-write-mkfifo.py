# So is a named pipe.
# effect: write
import os
os.mkfifo("@WRITE@")
