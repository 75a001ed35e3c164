# plotly: express and graph objects, HTML and JSON.
# tree: scientific
import json
import os
import pandas as pd
import plotly.express as px
import plotly.graph_objects as go
from plotly.subplots import make_subplots
df = pd.DataFrame({"x": [1, 2, 3], "y": [4, 1, 6], "c": ["a", "b", "a"]})
fig = px.scatter(df, x="x", y="y", color="c", title="Points")
print(len(fig.data), fig.layout.title.text, [t.name for t in fig.data])
bar = go.Figure(go.Bar(x=df.c, y=df.y)).update_layout(template="plotly_white", showlegend=False)
both = make_subplots(rows=1, cols=2)
both.add_trace(go.Scatter(x=[1, 2], y=[3, 4]), row=1, col=1)
both.add_trace(go.Histogram(x=[1, 1, 2]), row=1, col=2)
print(json.loads(bar.to_json())["data"][0]["type"], len(both.data), px.line(df, x="x", y="y").data[0].mode, px.histogram(df, x="y").data[0].type, px.box(df, y="y").data[0].type, px.pie(df, names="c").data[0].type)
fig.write_html("f.html", include_plotlyjs="cdn")
bar.write_json("b.json")
print(os.path.getsize("f.html") > 3000, "<div" in fig.to_html(full_html=False), os.path.exists("b.json"), px.colors.qualitative.Plotly[0])
try:
    go.Figure(go.Scatter(mode="wrong"))
except ValueError as error:
    print("Invalid value" in str(error))
