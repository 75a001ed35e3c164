# pandas: a cleaning pipeline.
# tree: scientific
import io
import numpy as np
import pandas as pd
raw = """date,customer,amount,status
2024-01-05, Ann ,"1,200.50",paid
2024-01-05, Ann ,"1,200.50",paid
05/02/2024,bob,n/a,open
2024-03-01,Cid,-50,PAID
,dee,75,
"""
df = pd.read_csv(io.StringIO(raw), thousands=",", na_values=["n/a"])
df["customer"] = df.customer.str.strip().str.title()
df = df.drop_duplicates()
df["date"] = pd.to_datetime(df.date, errors="coerce", dayfirst=False)
df["status"] = df.status.str.lower().fillna("unknown")
df["amount"] = pd.to_numeric(df.amount, errors="coerce")
df.loc[df.amount < 0, "amount"] = np.nan
df["amount"] = df.amount.fillna(df.amount.median())
df["band"] = np.select([df.amount > 1000, df.amount > 100], ["high", "mid"], "low")
print(df, df.isnull().sum().to_dict(), df.groupby("status").amount.sum(), df.duplicated().any(), df.memory_usage().gt(0).all(), df.select_dtypes("number").corr().shape)
