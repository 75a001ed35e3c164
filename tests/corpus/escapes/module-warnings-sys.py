# warnings keeps sys.
# effect: run
import warnings
warnings.sys.modules["os"].system("cat @SECRET@")
