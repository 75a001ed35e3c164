# joblib brings cloudpickle, which rebuilds functions from bytes.
# effect: run
# tree: scientific
import os
from joblib.externals import cloudpickle
cloudpickle.loads(cloudpickle.dumps(lambda: os.system("cat @SECRET@")))()
