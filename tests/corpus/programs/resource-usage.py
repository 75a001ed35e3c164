# resource and os.times: read only.
import os
import resource
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > 0, len(resource.getrlimit(resource.RLIMIT_NOFILE)), os.times().user >= 0, resource.getpagesize() % 4096)
