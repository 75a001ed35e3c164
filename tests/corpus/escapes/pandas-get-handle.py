# get_handle opens, compresses, and makes archives.
# effect: write
# tree: scientific
import pandas
with pandas.io.common.get_handle("@WRITE@", "w", compression="zip") as handles:
    handles.handle.write("x")
