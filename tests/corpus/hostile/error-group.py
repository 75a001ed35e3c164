# Fails with very many failures at once.
# group: stdout
# held: launcher
# status: error
# manifest: small
def group(depth):
    return ValueError("x" * 1000) if depth == 0 else ExceptionGroup("many", [group(depth - 1) for _ in range(8)])


raise group(4)
