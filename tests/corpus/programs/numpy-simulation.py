# numpy: random walks, bootstrap, Markov chain, gradient descent.
# tree: scientific
import numpy as np
rng = np.random.default_rng(11)
walks = rng.choice([-1, 1], (200, 100)).cumsum(axis=1)
print(walks[:, -1].std().round(3), (np.abs(walks) >= 10).any(axis=1).mean())
sample = rng.exponential(2, 60)
means = rng.choice(sample, (500, 60)).mean(axis=1)
print(np.percentile(means, [2.5, 97.5]).round(4))
P = np.array([[0.9, 0.1], [0.5, 0.5]])
print(np.linalg.matrix_power(P, 50).round(6))
w = np.zeros(2)
X = np.c_[np.ones(20), np.linspace(0, 1, 20)]
target = X @ [1, 2]
for _ in range(3000):
    w -= 0.1 * X.T @ (X @ w - target) / 20
print(w.round(4))
class Adam:
    def __init__(self, rate=0.1):
        self.rate, self.m, self.v, self.t = rate, 0.0, 0.0, 0
    def step(self, gradient):
        self.t += 1
        self.m = 0.9 * self.m + 0.1 * gradient
        self.v = 0.999 * self.v + 0.001 * gradient ** 2
        return self.rate * (self.m / (1 - 0.9 ** self.t)) / (np.sqrt(self.v / (1 - 0.999 ** self.t)) + 1e-8)
adam, z = Adam(), 5.0
for _ in range(300):
    z -= adam.step(2 * (z - 3))
print(round(z, 3))
