# SQLite attaches a database anywhere.
# effect: write
import sqlite3
base = sqlite3.connect(":memory:")
base.execute("ATTACH DATABASE '@WRITE@' AS other")
base.execute("CREATE TABLE other.t (x)")
