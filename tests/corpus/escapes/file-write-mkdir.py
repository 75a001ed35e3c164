# A directory is an effect too.
# effect: write
import os
os.makedirs("@WRITE@")
