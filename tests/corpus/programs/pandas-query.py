# pandas: query and eval with local variables, as programs use them.
# tree: scientific
import pandas as pd
df = pd.DataFrame({"age": [20, 35, 50], "city": ["Rome", "Oslo", "Rome"], "total income": [1, 2, 3]})
limit, cities = 30, ["Rome"]
print(df.query("age > @limit"), df.query("city in @cities and age < 40"), df.query("`total income` >= 2"), df.query("city == 'Oslo' or index == 0"), df.eval("age * 2 + 1"), pd.eval("df.age + 1"), df.query("age.between(30, 40)", engine="python"))
df.eval("ratio = age / `total income`", inplace=True)
print(df)
