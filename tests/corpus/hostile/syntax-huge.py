# Is no program, at an enormous column.
# group: stdout
# held: launcher
# status: error
# manifest: small
compile("x" * 500_000 + " (" * 90 + " '", "<cell>", "exec")
