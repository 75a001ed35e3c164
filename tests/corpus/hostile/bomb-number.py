# Computes a number that nobody can write down.
# group: resources
# held: launcher
# status: timeout memory
# options: --timeout=0.3 --grace=0
9 ** 9 ** 9
