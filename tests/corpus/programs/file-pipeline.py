# A small pipeline: CSV in, JSON and SQLite out.
import csv
import json
import os
import sqlite3
from collections import defaultdict
from pathlib import Path
out = Path("results")
out.mkdir(exist_ok=True)
(out / "sales.csv").write_text("region,month,amount\nnorth,1,10.5\nsouth,1,20\nnorth,2,30.25\nsouth,2,x\n")
totals, bad = defaultdict(float), []
with open(out / "sales.csv", newline="") as file:
    for number, row in enumerate(csv.DictReader(file), 2):
        try:
            totals[row["region"]] += float(row["amount"])
        except ValueError:
            bad.append((number, row["amount"]))
(out / "totals.json").write_text(json.dumps(totals, indent=1, sort_keys=True))
with sqlite3.connect(out / "totals.db") as base:
    base.execute("CREATE TABLE totals (region TEXT PRIMARY KEY, amount REAL)")
    base.executemany("INSERT INTO totals VALUES (?, ?)", totals.items())
print(dict(totals), bad, sorted(os.listdir(out)), (out / "totals.json").read_text(), base.execute("SELECT * FROM totals ORDER BY 2").fetchall())
