# A database named by a URI.
# effect: write
import sqlite3
base = sqlite3.connect("file:@WRITE@?mode=rwc", uri=True)
base.execute("CREATE TABLE t (x)")
