# So does pathlib.
# effect: run
import pathlib
getattr(pathlib, "_local", pathlib).os.system("cat @SECRET@")
