# pandas: frames, selection, new columns, description.
# tree: scientific
import pandas as pd
df = pd.DataFrame({"name": ["Ann", "Bob", "Cid", "Dee"], "age": [34, 28, 45, 28], "city": ["Rome", "Oslo", "Rome", None]})
print(df, df.shape, df.dtypes, df.head(2), df.describe(), df.columns.tolist(), df.index)
df["senior"] = df["age"] > 30
df = df.assign(decade=df.age // 10 * 10)
print(df[df.senior & (df.city == "Rome")], df.loc[1, "name"], df.iloc[-1]["age"], df.loc[:, "name":"age"].tail(1), df.sort_values(["age", "name"], ascending=[True, False]))
print(df.isna().sum(), df.fillna({"city": "?"}), df.dropna().shape, df.rename(columns={"age": "years"}).columns, df.drop(columns="senior").T, df.age.value_counts(), df.nunique(), df["city"].unique())
df.info()
df.at[0, "age"] = 35
df.loc[len(df)] = ["Eve", 50, "Bonn", True, 50]
print(df, df.set_index("name").loc["Eve", "city"], df.age.between(30, 40).tolist(), df.nlargest(2, "age"), df.sample(2, random_state=1), df.to_dict("records")[0])
