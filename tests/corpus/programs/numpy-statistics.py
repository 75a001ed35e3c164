# numpy: regression, k-means and PCA by hand.
# tree: scientific
import numpy as np
rng = np.random.default_rng(3)
X = np.c_[np.ones(50), rng.normal(size=(50, 2))]
y = X @ [1.0, 2.0, -3.0] + rng.normal(scale=0.1, size=50)
print(np.linalg.lstsq(X, y, rcond=None)[0].round(2))
points = np.r_[rng.normal(0, 0.3, (20, 2)), rng.normal(5, 0.3, (20, 2))]
centres = points[[0, -1]]
for _ in range(5):
    labels = np.argmin(((points[:, None] - centres) ** 2).sum(-1), axis=1)
    centres = np.array([points[labels == k].mean(0) for k in range(2)])
print(centres.round(1), np.bincount(labels))
centred = points - points.mean(0)
values, vectors = np.linalg.eigh(np.cov(centred.T))
print((values[::-1] / values.sum()).round(3), np.abs(vectors[:, -1]).round(1))
