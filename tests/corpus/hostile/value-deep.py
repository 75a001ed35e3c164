# Has a value that holds itself, deeper than anybody looks.
# group: stdout
# held: launcher
# status: ok error
# manifest: small
value = []
for _ in range(100000):
    value = [value]
value
