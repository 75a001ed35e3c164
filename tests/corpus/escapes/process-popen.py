# os.popen.
# effect: run
import os
print(os.popen("cat @SECRET@").read())
