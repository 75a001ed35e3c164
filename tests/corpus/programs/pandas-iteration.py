# pandas: iteration, own accessor, subclass, errors.
# tree: scientific
import pandas as pd
df = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
for i, row in df.iterrows():
    print(i, row["a"], row.b)
for item in df.itertuples(index=False):
    print(item, item.a)
for name, column in df.items():
    print(name, column.tolist())
@pd.api.extensions.register_dataframe_accessor("my")
class Mine:
    def __init__(self, frame):
        self.frame = frame
    def total(self):
        return self.frame.a.sum()
print(df.my.total(), list(zip(df.a, df.b)))
class Frame(pd.DataFrame):
    @property
    def _constructor(self):
        return Frame
    def double(self):
        return self.assign(a=self.a * 2)
print(type(Frame(df).double().head()).__name__)
for bad in (lambda: df["zzz"], lambda: df.loc[9], lambda: pd.DataFrame({"a": [1], "b": [1, 2]}), lambda: df.a.astype("datetime64[ns]").dt.foo, lambda: df.b.astype(int)):
    try:
        bad()
    except Exception as error:
        print(type(error).__name__, str(error)[:60])
pd.testing.assert_frame_equal(df, df.copy())
