# numpy: creation, shapes, indexing.
# tree: scientific
import numpy as np
a = np.arange(12).reshape(3, 4)
print(a, a.shape, a.dtype, a.ndim, a.size, a.T.shape, a[1, 2], a[:, 1], a[a > 5], a[[0, 2]], a[..., -1])
print(np.zeros((2, 2)), np.ones(3), np.eye(2), np.full((1, 2), 7), np.linspace(0, 1, 5), np.logspace(0, 2, 3), np.empty(0).size)
print(np.concatenate([a, a]).shape, np.vstack([a[0], a[1]]), np.hstack([a[:1], a[:1]]).shape, np.split(np.arange(6), 3), np.tile([1, 2], 2), np.repeat([1, 2], [1, 2]))
b = a.copy()
b[0] = -1
b[b % 2 == 0] *= 10
print(b, np.where(a > 5, "big", "small")[2], np.argwhere(a == 7), np.nonzero(a[0]), np.unique([3, 1, 3], return_counts=True), a.ravel()[::3], np.flip(a[0]), a.astype(float).mean())
