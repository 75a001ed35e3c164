# numpy: a two-layer network that learns exclusive or.
# tree: scientific
import numpy as np
rng = np.random.default_rng(1)
X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
y = np.array([[0], [1], [1], [0]], dtype=float)
W1, b1, W2, b2 = rng.normal(size=(2, 8)), np.zeros(8), rng.normal(size=(8, 1)), np.zeros(1)
def sigmoid(z):
    return 1 / (1 + np.exp(-z))
for epoch in range(4000):
    hidden = np.tanh(X @ W1 + b1)
    out = sigmoid(hidden @ W2 + b2)
    d2 = (out - y)
    d1 = (d2 @ W2.T) * (1 - hidden ** 2)
    W2 -= 0.3 * hidden.T @ d2
    b2 -= 0.3 * d2.sum(0)
    W1 -= 0.3 * X.T @ d1
    b1 -= 0.3 * d1.sum(0)
print(out.round().ravel(), bool(np.abs(out - y).max() < 0.1))
