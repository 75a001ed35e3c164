# pandas imports optional libraries by name.
# effect: run
# tree: scientific
import pandas
from pandas.compat._optional import import_optional_dependency
import_optional_dependency("os").system("cat @SECRET@")
