# numpy.f2py starts compilers; it keeps subprocess.
# effect: run
# tree: scientific
import numpy.f2py
numpy.f2py.subprocess.run(["cat", "@SECRET@"])
