# write_html to any path.
# effect: write
# tree: scientific
import plotly.graph_objects as go
go.Figure().write_html("@WRITE@")
