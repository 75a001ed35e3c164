# numpy.linalg.
# tree: scientific
import numpy as np
A = np.array([[4.0, 1.0], [2.0, 3.0]])
print(np.linalg.inv(A).round(6), np.linalg.det(A).round(6), np.linalg.solve(A, [1, 2]).round(6), np.sort(np.linalg.eigvals(A)).round(6), np.linalg.norm(A).round(6), np.linalg.matrix_rank(A), np.trace(A))
q, r = np.linalg.qr(A)
print(np.allclose(q @ r, A), np.linalg.cholesky(A @ A.T).round(6), np.linalg.svd(A, compute_uv=False).round(6), np.linalg.matrix_power(A, 3), np.linalg.lstsq(np.c_[np.ones(4), np.arange(4)], [1, 3, 5, 7], rcond=None)[0].round(6))
print(np.kron([1, 2], [1, 1]), np.cross([1, 0, 0], [0, 1, 0]), np.einsum("ij,jk->ik", A, A), np.tensordot(A, A, 1), np.triu(A), np.linalg.cond(A).round(4))
try:
    np.linalg.inv(np.zeros((2, 2)))
except np.linalg.LinAlgError as error:
    print(error)
