# DataFrame.to_csv to any path.
# effect: write
# tree: scientific
import pandas
pandas.DataFrame({"a": [1]}).to_csv("@WRITE@")
