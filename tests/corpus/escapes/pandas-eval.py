# pandas.eval resolves names in the caller's frame.
# effect: run
# tree: scientific
import pandas
pandas.eval("pandas.io.common.os.system('cat @SECRET@')", engine="python", parser="python")
