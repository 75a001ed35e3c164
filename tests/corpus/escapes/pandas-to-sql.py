# DataFrame.to_sql into a database anywhere.
# effect: write
# tree: scientific
import sqlite3
import pandas
pandas.DataFrame({"a": [1]}).to_sql("t", sqlite3.connect("@WRITE@"))
