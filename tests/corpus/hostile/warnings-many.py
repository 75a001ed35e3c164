# Warns very often, at length.
# group: stdout
# held: launcher
# status: ok error
# manifest: small
import warnings

warnings.simplefilter("always")
for number in range(2000):
    warnings.warn(f"{number} " + "x" * 2000)
