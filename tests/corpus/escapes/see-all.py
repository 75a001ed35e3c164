# Every process in /proc.
# effect: see
import glob
for path in glob.glob("/proc/[0-9]*/cmdline"):
    print(open(path).read().replace("\0", " "))
