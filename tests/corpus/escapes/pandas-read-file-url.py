# pandas.read_csv of a file: URL goes through urllib.
# effect: read
# tree: scientific
import pandas
print(pandas.read_csv("file://@SECRET@", header=None))
