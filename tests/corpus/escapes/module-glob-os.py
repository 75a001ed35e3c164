# So does glob, here by a from-import under another name.
# effect: run
from glob import os as paths
getattr(paths, "system")("cat @SECRET@")
