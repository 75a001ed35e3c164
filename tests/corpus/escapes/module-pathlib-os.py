# So does pathlib.
# effect: run
import pathlib
pathlib.os.system("cat @SECRET@")
