# pandas.read_csv of any path.
# effect: read
# tree: scientific
import pandas
print(pandas.read_csv("@SECRET@", header=None))
