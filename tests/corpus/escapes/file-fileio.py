# _io.FileIO beneath open.
# effect: read
import _io
print(_io.FileIO("@SECRET@").readall())
