# numpy: in threads and in a generator pipeline, with large products.
# tree: scientific
from concurrent.futures import ThreadPoolExecutor
import numpy as np
def work(seed):
    rng = np.random.default_rng(seed)
    m = rng.normal(size=(120, 120))
    return float(np.trace(m @ m.T).round(4))
with ThreadPoolExecutor(4) as pool:
    print(list(pool.map(work, range(6))))
print(np.linalg.norm(np.arange(90000.0).reshape(300, 300) @ np.eye(300)))
