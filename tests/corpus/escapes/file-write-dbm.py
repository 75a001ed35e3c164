# dbm.dumb writes three files.
# effect: write
import dbm.dumb
import os
dbm.dumb.open("@WRITE@", "c").close()
os.rename("@WRITE@.dat", "@WRITE@")
