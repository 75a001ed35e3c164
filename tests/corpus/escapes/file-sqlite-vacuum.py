# VACUUM INTO writes a copy of the database.
# effect: write
import sqlite3
base = sqlite3.connect(":memory:")
base.execute("CREATE TABLE t (x)")
base.commit()
base.execute("VACUUM INTO '@WRITE@'")
