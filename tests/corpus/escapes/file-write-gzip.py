# gzip opens its own files.
# effect: write
import gzip
gzip.open("@WRITE@", "wb").close()
