# So is posix, the C module beneath it.
# effect: run
import sys
for name, module in list(sys.modules.items()):
    if name == "posix":
        module.system("cat @SECRET@")
