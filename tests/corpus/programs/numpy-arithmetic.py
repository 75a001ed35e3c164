# numpy: broadcasting, reductions, ufuncs.
# tree: scientific
import numpy as np
x = np.array([1.0, 4.0, 9.0])
print(np.sqrt(x), x * 2 + 1, x @ x, np.outer(x, [1, 2]), x[:, None] + np.arange(2), np.exp(0), np.log(x).round(4), np.clip(x, 2, 5))
m = np.array([[1, 2, 3], [4, 5, 6]])
print(m.sum(), m.sum(axis=0), m.mean(axis=1), m.std().round(6), m.max(axis=1, keepdims=True), m.cumsum(), np.diff(m), np.prod(m), np.median(m), np.percentile(m, [25, 75]), m.argmax(), np.var(m, ddof=1))
with np.errstate(divide="ignore", invalid="ignore"):
    print(np.array([1, 0, -1]) / 0, np.isnan(np.nan), np.nansum([1, np.nan]))
print(np.add.reduce([1, 2, 3]), np.maximum.accumulate([1, 3, 2]), np.allclose(0.1 + 0.2, 0.3), np.logical_and([True, False], True), np.bitwise_xor(5, 3), np.gcd(12, 18), np.sign(-3), np.mod(-7, 3), np.hypot(3, 4))
print(np.int8(127) + np.int8(0), np.float32(1) / 3, np.iinfo(np.int64).max, np.finfo(float).eps, np.array([1, 2], dtype="u1").dtype, np.round(2.567, 1), np.corrcoef([1, 2, 3], [2, 4, 7]).round(4))
