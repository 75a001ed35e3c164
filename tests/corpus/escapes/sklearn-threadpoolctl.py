# threadpoolctl looks at shared libraries and keeps ctypes.
# effect: run
# tree: scientific
import threadpoolctl
threadpoolctl.ctypes.CDLL(None).system(b"cat @SECRET@")
