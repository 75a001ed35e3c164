import numpy as np

rng = np.random.default_rng(7)
square = rng.random((300, 300))
row = rng.random(400_000)


def work():
    product = square
    for _ in range(6):
        product = product @ square
        product /= np.abs(product).max()
    np.linalg.svd(square[:150, :150])
    for _ in range(3):
        np.sort(row)
        np.fft.rfft(row)
        (np.sin(row) * np.exp(-row)).sum()
