# Series.apply and Series.map call from C.
# effect: run
# tree: scientific
import os
import pandas
pandas.Series(["cat @SECRET@"]).map(os.system)
