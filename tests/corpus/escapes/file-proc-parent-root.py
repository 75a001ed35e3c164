# Through the root of every process that is visible.
# effect: read
import glob
for root in glob.glob("/proc/[0-9]*/root"):
    try:
        print(open(root + "@SECRET@").read())
    except OSError:
        pass
