# pandas.io.common keeps os.
# effect: run
# tree: scientific
import pandas
pandas.io.common.os.system("cat @SECRET@")
