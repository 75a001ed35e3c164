# numpy: an image as an array, filters and a histogram by hand.
# tree: scientific
import numpy as np
y, x = np.mgrid[0:16, 0:16]
image = ((x - 8) ** 2 + (y - 8) ** 2 < 25).astype(float)
kernel = np.ones((3, 3)) / 9
padded = np.pad(image, 1, mode="edge")
windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3))
blurred = np.einsum("ijkl,kl->ij", windows, kernel)
gy, gx = np.gradient(blurred)
print(image.sum(), blurred.max(), np.hypot(gx, gy).sum().round(6), np.histogram(blurred, 4)[0], np.rot90(image).sum(), (image[::2, ::2]).shape)
for row in image[4:8].astype(int):
    print("".join(".#"[v] for v in row))
