# pandas: CSV, JSON, pickle, SQL, HTML, fixed width, compressed.
# tree: scientific
import io
import sqlite3
import pandas as pd
df = pd.DataFrame({"id": [1, 2], "when": pd.to_datetime(["2024-01-01", "2024-06-01"]), "x": [1.5, None], "s": ["a,b", 'q"']})
df.to_csv("d.csv", index=False)
print(open("d.csv").read(), pd.read_csv("d.csv", parse_dates=["when"]).dtypes, pd.read_csv("d.csv", usecols=["id"], index_col="id").shape)
df.to_json("d.json", orient="records", date_format="iso")
print(pd.read_json("d.json").equals(df), df.to_json(orient="split"), pd.read_csv(io.StringIO("a;b\n1,5;2"), sep=";", decimal=","))
df.to_pickle("d.pkl")
print(pd.read_pickle("d.pkl").equals(df))
df.to_csv("d.csv.gz", index=False)
print(pd.read_csv("d.csv.gz").shape, [len(c) for c in pd.read_csv("d.csv", chunksize=1)])
with sqlite3.connect("d.db") as base:
    df.to_sql("t", base, index=False)
    print(pd.read_sql("SELECT id, s FROM t WHERE id > 1", base))
print(df.to_html()[:40], df.to_string(), pd.read_fwf(io.StringIO("ab  12\ncd  34"), header=None), pd.json_normalize([{"a": {"b": 1}, "c": 2}]), pd.read_table(io.StringIO("x\ty\n1\t2")), df.to_records(index=False).dtype.names)
