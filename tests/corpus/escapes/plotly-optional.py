# plotly imports optional modules by name.
# effect: run
# tree: scientific
import _plotly_utils.optional_imports
_plotly_utils.optional_imports.get_module("os").system("cat @SECRET@")
