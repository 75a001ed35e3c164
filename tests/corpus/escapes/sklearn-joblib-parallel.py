# joblib starts worker processes.
# effect: run
# tree: scientific
import os
import joblib
joblib.Parallel(n_jobs=2, backend="multiprocessing")([joblib.delayed(os.system)("cat @SECRET@")])
