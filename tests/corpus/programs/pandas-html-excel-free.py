# pandas: markdown-free reports, Styler-free HTML, what is missing says so.
# tree: scientific
import pandas as pd
df = pd.DataFrame({"a": [1, 2], "b": ["<x>", "&"]})
print(df.to_html(index=False), df.to_string(header=False), df.to_csv(sep="|"), df.to_dict("list"), df.to_numpy().tolist(), df.values.shape)
try:
    pd.read_excel("missing.xlsx")
except (ImportError, FileNotFoundError) as error:
    print(type(error).__name__)
try:
    df.to_parquet("x.parquet")
except ImportError as error:
    print("ImportError", "pyarrow" in str(error))
