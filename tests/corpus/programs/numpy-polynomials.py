# numpy: polynomials, fits, FFT, interpolation, convolution, meshgrid.
# tree: scientific
import numpy as np
fit = np.polyfit([0, 1, 2, 3], [1, 3, 7, 13], 2)
print(fit.round(6), np.polyval([1, 2, 3], 2), np.roots([1, -3, 2]), np.poly1d([1, 0, -1]), np.polynomial.Polynomial([1, 2, 3])(2), np.polynomial.Polynomial.fit([0, 1, 2], [0, 1, 4], 2).convert().coef.round(6))
signal = np.sin(2 * np.pi * 5 * np.arange(64) / 64)
print(np.abs(np.fft.rfft(signal)).argmax(), np.fft.fftfreq(4), np.allclose(np.fft.ifft(np.fft.fft(signal)).real, signal), np.interp(2.5, [1, 2, 3], [10, 20, 30]), np.convolve([1, 2, 3], [1, 1]), np.trapz([1, 2, 3]), np.gradient([1, 4, 9]))
X, Y = np.meshgrid(np.arange(3), np.arange(2))
print((X + Y * 10).tolist(), np.vectorize(lambda a, b: a if a > b else b)([1, 5], [3, 2]), np.apply_along_axis(sum, 0, [[1, 2], [3, 4]]), np.fromfunction(lambda i, j: i * j, (2, 3)), np.pad([1], 2), np.roll([1, 2, 3], 1), np.array2string(np.pi * np.arange(2), precision=2))
