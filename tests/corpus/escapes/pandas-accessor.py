# A registered accessor runs when an attribute is read.
# effect: run
# tree: scientific
import os
import pandas
@pandas.api.extensions.register_series_accessor("harmless")
class Accessor:
    def __init__(self, series):
        os.system(series[0])
pandas.Series(["cat @SECRET@"]).harmless
