# Has an enormous value.
# group: stdout
# held: launcher
# status: ok
# options: --memory=512M --value-size=64K
# manifest: small
"x" * 100_000_000
