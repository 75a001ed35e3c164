# Fails in a line that is enormous.
# group: stdout
# held: launcher
# status: error
# manifest: small
exec(compile("x = '" + "x" * 3_000_000 + "'; 1 / 0", "forged\n\x1b[2J.py", "exec"))
