# The same through the task directory, and of every process that is visible.
# effect: env
import glob
for path in glob.glob("/proc/[0-9]*/task/*/environ"):
    try:
        print(open(path).read().replace("\0", "\n"))
    except OSError:
        pass
