# Has the compiler read an expression without end.
# group: resources
# held: launcher rlimits
# status: error memory
# options: --memory=128M
eval("-" * 2000000 + "1")
