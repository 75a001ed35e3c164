# numpy.random with seeds, both interfaces.
# tree: scientific
import numpy as np
rng = np.random.default_rng(42)
print(rng.random(3), rng.integers(0, 10, 5), rng.normal(size=2), rng.choice(["a", "b", "c"], 4), rng.permutation(5), round(rng.standard_t(3), 6), rng.dirichlet([1, 2]).round(6))
np.random.seed(0)
print(np.random.rand(2), np.random.randn(2), np.random.randint(0, 5, 3), np.random.choice(5, 2, replace=False), np.random.binomial(10, 0.5), np.random.poisson(3, 2))
data = np.random.RandomState(1).normal(5, 2, 1000)
print(data.mean().round(4), np.histogram(data, bins=4), round(np.random.Generator(np.random.PCG64(7)).random(), 6))
walk = np.cumsum(np.where(rng.random(50) < 0.5, -1, 1))
print(walk[-5:], np.random.SeedSequence(5).generate_state(2))
