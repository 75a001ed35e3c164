# Fails with an enormous message.
# group: stdout
# held: launcher
# status: error
# options: --memory=512M
# manifest: error ValueError; small
raise ValueError("x" * 50_000_000)
