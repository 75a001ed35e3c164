# pathlib.
# effect: read
import pathlib
print(pathlib.Path("@SECRET@").read_text())
