# platform keeps os.
# effect: run
import platform
platform.os.system("cat @SECRET@")
