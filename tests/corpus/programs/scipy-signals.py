# scipy: signal, fft, ndimage, spatial, cluster, special, sparse, linalg, io.
# tree: scientific
import numpy as np
from scipy import fft, io, linalg, ndimage, signal, sparse, spatial, special
from scipy.cluster import hierarchy
t = np.linspace(0, 1, 200)
wave = np.sin(2 * np.pi * 7 * t)
b, a = signal.butter(3, 0.1)
print(len(signal.find_peaks(wave)[0]), signal.filtfilt(b, a, wave)[100].round(6), np.abs(fft.rfft(wave)).argmax(), signal.convolve([1, 2], [1, 1]), signal.detrend([1, 2, 3]).round(6), signal.welch(wave, nperseg=64)[0][:2])
print(ndimage.gaussian_filter(np.eye(5), 1).round(3)[2], ndimage.label([[1, 0, 1]])[1], special.gamma(5), special.comb(5, 2), special.erf(0.5).round(6), special.expit(0), linalg.expm(np.zeros((2, 2))), linalg.lu(np.array([[1, 2], [3, 4.0]]))[2].round(6))
points = np.array([[0, 0], [1, 0], [0, 1], [1, 1], [0.5, 0.5]])
print(sorted(spatial.ConvexHull(points).vertices), spatial.distance.pdist(points[:3]).round(6), spatial.KDTree(points).query([0.4, 0.4]), len(spatial.Delaunay(points).simplices), hierarchy.fcluster(hierarchy.linkage(points[:4] * [1, 9]), 2, "distance"))
m = sparse.csr_matrix([[0, 1, 0], [2, 0, 3]])
print(m.nnz, m.toarray(), (m @ m.T).toarray(), sparse.csgraph.connected_components(sparse.eye(3))[0], sparse.linalg.spsolve(sparse.eye(2, format="csc") * 2, [2, 4]))
io.savemat("m.mat", {"a": np.arange(3)})
print(io.loadmat("m.mat")["a"])
sparse.save_npz("s.npz", m)
print(sparse.load_npz("s.npz").sum())
