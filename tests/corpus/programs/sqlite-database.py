# sqlite3: in memory and in a file, functions, transactions.
import sqlite3
base = sqlite3.connect(":memory:")
base.row_factory = sqlite3.Row
base.executescript("CREATE TABLE sale (id INTEGER PRIMARY KEY, item TEXT, amount REAL); CREATE INDEX i ON sale (item);")
base.executemany("INSERT INTO sale (item, amount) VALUES (?, ?)", [("tea", 2.5), ("cake", 4), ("tea", 3)])
for row in base.execute("SELECT item, SUM(amount) AS total, COUNT(*) AS n FROM sale GROUP BY item ORDER BY item"):
    print(row["item"], row["total"], row["n"], dict(row))
base.create_function("double", 1, lambda x: x * 2)
class Longest:
    def __init__(self):
        self.best = ""
    def step(self, value):
        self.best = max(self.best, value, key=len)
    def finalize(self):
        return self.best
base.create_aggregate("longest", 1, Longest)
print(base.execute("SELECT double(21), longest(item) FROM sale").fetchone()[:], base.execute("SELECT :a + 1", {"a": 1}).fetchone()[0])
try:
    with base:
        base.execute("INSERT INTO sale VALUES (1, 'x', 0)")
except sqlite3.IntegrityError as error:
    print(error)
print(base.total_changes, list(base.iterdump())[1])
disk = sqlite3.connect("shop.db")
base.backup(disk)
print(disk.execute("SELECT COUNT(*) FROM sale").fetchone(), disk.execute("SELECT name FROM sqlite_master").fetchall())
disk.execute("ATTACH DATABASE 'other.db' AS o")
disk.execute("CREATE TABLE o.t AS SELECT * FROM sale")
disk.commit()
disk.close()
print(sqlite3.connect("other.db").execute("SELECT item FROM t ORDER BY amount DESC").fetchall())
print(base.execute("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 5) SELECT group_concat(x) FROM n").fetchone()[0])
