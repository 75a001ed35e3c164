# Fails with a failure that was caused by a failure, and so on.
# group: stdout
# held: launcher
# status: error
# manifest: small
error = ValueError("first")
for number in range(20000):
    after = ValueError(f"{number} " + "x" * 100)
    after.__cause__ = error
    error = after
raise error
